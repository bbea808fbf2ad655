import react from '@vitejs/plugin-react';
import { build, defineConfig } from 'vite';
import type { Plugin } from 'vite';

/**
 * The same dashboard as one script and one style sheet. `scripts/build-record.ts` puts them into one file, in which a
 * team's past is written later. That file is opened from disk, where a page can load nothing else.
 */
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  plugins: [workersInside(), react()],
  publicDir: false,
  build: {
    target: 'es2023',
    // Fonts become part of the style sheet.
    assetsInlineLimit: Number.POSITIVE_INFINITY,
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: {
      input: new URL('main.ts', import.meta.url).pathname,
      output: { codeSplitting: false, entryFileNames: 'main.js', assetFileNames: '[name][extname]' },
    },
  },
});

/** Workers become text inside of the script, from which the page makes an address of its own. */
function workersInside(): Plugin {
  const SUFFIX = '?worker&url';
  return {
    name: 'workers-inside',
    enforce: 'pre',
    async resolveId(id, importer) {
      if (!id.endsWith(SUFFIX)) return undefined;
      const found = await this.resolve(id.slice(0, -SUFFIX.length), importer);
      return found ? `\0inside:${found.id}` : undefined;
    },
    async load(id) {
      if (!id.startsWith('\0inside:')) return undefined;
      const code = JSON.stringify(await bundleWorker(id.slice('\0inside:'.length)));
      return `export default URL.createObjectURL(new Blob([${code}], { type: 'text/javascript' }));`;
    },
  };
}

async function bundleWorker(input: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      write: false,
      target: 'es2023',
      modulePreload: false,
      rolldownOptions: { input, output: { codeSplitting: false, format: 'iife' } },
    },
  });
  const [chunk] = 'output' in built ? built.output : [];
  if (chunk?.type !== 'chunk') throw new Error(`${input} was not built`);
  return chunk.code;
}
