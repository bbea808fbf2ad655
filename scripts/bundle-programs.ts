import { writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'vite';
import { keepPlaces } from './keep-places.ts';
import { completeLicenses, LICENSES } from './licenses.ts';
import { loadBuiltins } from './load-builtins.ts';
import { toAscii } from './to-ascii.ts';

/** What is bundled: programs that commands load, and the library. Each is a module of `dist/`. */
const ENTRIES: Readonly<Record<string, string>> = {
  serve: 'cli/commands/serve',
  teammate: 'cli/commands/teammate',
  mcp: 'cli/commands/mcp',
  // Only tests load it by itself, and often.
  daemon: 'daemon',
  library: 'index',
};

/** Not part of the package: traces and a journal on servers load their libraries when they are wanted. */
export const LATER = [/^node:/, /^@opentelemetry\//, /^@nats-io\//];

/**
 * Bundles the daemon, a teammate's process and the library into few files, with the packages that they need: who installs
 * Troupe installs none of these. After kill -9 the next command waits for the whole start. 418 modules take 345 ms to
 * load, the bundle 120 ms, both with V8's code cache.
 */
export async function bundlePrograms(root: string): Promise<void> {
  const folder = join(root, 'dist/cli');
  const moduleOf = (path: string): string => join(root, 'dist', `${path}.js`);
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [keepPlaces(folder), loadBuiltins, toAscii],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: false,
      // Stack traces in the log should be readable.
      minify: false,
      target: 'node22',
      license: LICENSES,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [`program-${name}`, moduleOf(path)])),
        external: LATER,
        preserveEntrySignatures: 'strict',
        output: { format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'program-part-[name].js' },
      },
    },
  });
  completeLicenses(root, join(folder, LICENSES.fileName));
  for (const [name, path] of Object.entries(ENTRIES)) {
    const bundle = relative(dirname(moduleOf(path)), join(folder, `program-${name}.js`));
    writeFileSync(moduleOf(path), `export * from '${bundle.startsWith('.') ? '' : './'}${bundle}';\n`);
  }
}
