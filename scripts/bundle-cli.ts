import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { LATER } from './bundle-programs.ts';
import { keepPlaces } from './keep-places.ts';
import { toAscii } from './to-ascii.ts';

/** Programs that load their own modules; they are not part of the bundle. */
const PROGRAMS = /\/(serve|mcp|teammate)\.js$/;

/**
 * Bundles what every command needs into one file, and what some need into one file each. Measured against `node -e 0`
 * at 33 ms: `troupe task list` takes 75 ms as 25 modules and 44 ms bundled. Each module costs 1 ms; CommonJS saves 1 ms
 * more.
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
