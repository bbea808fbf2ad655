import { dirname, relative } from 'node:path';
import type { Plugin } from 'vite';

/** A module finds files by where it lies; moved into another file, it must still find them from where it lay. */
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
