import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import type { Plugin } from 'vite';
import { LATER } from './bundle-programs.ts';
import { keepPlaces } from './keep-places.ts';

/** Programs that load their own modules; they are not part of the bundle. */
const PROGRAMS = /\/(serve|mcp|teammate)\.js$/;

/**
 * Bundles what every command needs into one file, and what some need into one file each. Measured against `node -e 0`
 * at 33 ms: `troupe task list` takes 75 ms as 25 modules and 44 ms bundled. Each module costs 1 ms; CommonJS saves 1 ms
 * more. Plain ASCII text takes half the memory, and is read twice as fast.
 */
export async function bundleCli(root: string): Promise<void> {
  const folder = join(root, 'dist/cli');
  const entry = join(folder, 'main.js');
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [keepPlaces(folder), toAscii],
    // Who installs Troupe installs none of the packages that commands need.
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: false,
      minify: true,
      target: 'node22',
      rolldownOptions: {
        input: entry,
        external: [PROGRAMS, ...LATER],
        preserveEntrySignatures: false,
        // Rolldown would merge its own helpers with the schemas, and every command would load those.
        experimental: { chunkOptimization: { mergeCommonChunks: false } },
        output: {
          format: 'cjs',
          entryFileNames: 'main.cjs',
          chunkFileNames: 'main-[name].cjs',
          // Code that later files share with the first one goes into the first one too.
          codeSplitting: {
            groups: [
              {
                debugName: 'what every command needs',
                name: (id, context) => (isNeededBy(entry, id, (one) => context.getModuleInfo(one)) ? 'all' : null),
              },
            ],
          },
        },
      },
    },
  });
  writeFileSync(entry, `import './main.cjs';\n`);
}

type GetModuleInfo = (id: string) => { readonly importedIds?: readonly string[] } | null;

/** Whether a module is loaded as soon as the entry is. */
function isNeededBy(entry: string, id: string, getModuleInfo: GetModuleInfo): boolean {
  const seen = new Set([entry]);
  for (const one of seen) for (const imported of getModuleInfo(one)?.importedIds ?? []) seen.add(imported);
  return seen.has(id);
}

const toAscii: Plugin = {
  name: 'to-ascii',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== 'chunk') continue;
        file.code = file.code.replace(/\P{ASCII}/gu, (character) =>
          Array.from({ length: character.length }, (_, at) => escapeUnit(character.charCodeAt(at))).join(''),
        );
      }
    },
  },
};

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
