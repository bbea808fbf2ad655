import { count } from './views/details.ts';

/** How much changed: `2 files (+10 -3)`. */
export function sizeOf({ files = 0, added = 0, removed = 0 }: Changed): string {
  return `${count(files, 'file')} (+${added} -${removed})`;
}

interface Changed {
  readonly files?: number | undefined;
  readonly added?: number | undefined;
  readonly removed?: number | undefined;
}
