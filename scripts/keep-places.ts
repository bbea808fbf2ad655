import { dirname, relative } from 'node:path';
import type { Plugin } from 'vite';

/**
 * Modules find files relative to their own path. A bundled module must still find them relative to its original path.
 */
export function keepPlaces(folder: string): Plugin {
  return {
    name: 'keep-places',
    enforce: 'pre',
    transform(code, id) {
      const isMoved = id.startsWith(dirname(folder)) && dirname(id) !== folder;
      if (!isMoved || !code.includes('import.meta')) return null;
      const file = JSON.stringify(relative(folder, id));
      const place = JSON.stringify(`/${relative(folder, dirname(id))}`);
      return code
        .replaceAll('import.meta.dirname', `(import.meta.dirname + ${place})`)
        .replaceAll('import.meta.url', `new URL(${file}, import.meta.url).href`);
    },
  };
}
