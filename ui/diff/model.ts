import type { Change, DiffStore } from '../data/diff-store.ts';
import { rowsOf } from './rows.ts';
import type { Layout, Row } from './rows.ts';

/** What the person chose for a file: folded or not, and shown although it is large or binary. */
export interface Choice {
  readonly isFolded?: boolean;
  readonly isWanted?: boolean;
}

/** A file with its rows, and the place of the first one among all. */
export interface FileRows {
  readonly change: Change;
  readonly rows: readonly Row[];
  readonly start: number;
}

/** All rows of a difference, file by file. */
export interface Model {
  readonly files: readonly FileRows[];
  readonly count: number;
}

/** What the rows of a file were made from. */
interface Made {
  readonly from: readonly unknown[];
  readonly rows: readonly Row[];
}

/** Makes models, and reuses the rows of files that did not change: a file may have 100,000 of them. */
export function modelMaker(): (store: DiffStore, layout: Layout, choices: ReadonlyMap<string, Choice>) => Model {
  const known = new Map<string, Made>();
  return (store, layout, choices) => {
    let start = 0;
    const files = store.changes.map((change): FileRows => {
      const { isFolded = false, isWanted = false } = choices.get(change.path) ?? {};
      const from = [store.linesOf(change.path), layout, isFolded, isWanted];
      const before = known.get(change.path);
      const isSame = before?.from.every((value, i) => value === from[i]) ?? false;
      const made =
        before && isSame
          ? before
          : { from, rows: rowsOf(change, store.linesOf(change.path), { layout, isFolded, isWanted }) };
      known.set(change.path, made);
      const file = { change, rows: made.rows, start };
      start += made.rows.length;
      return file;
    });
    return { files, count: start };
  };
}

/** The index of the file that a row belongs to. */
export function fileAt({ files }: Model, index: number): number {
  let [low, high] = [0, files.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((files[middle]?.start ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A row by its index. */
export function rowAt(model: Model, index: number): { file: FileRows; row: Row } | undefined {
  const file = model.files[fileAt(model, index)];
  const row = file?.rows[index - file.start];
  return file && row && { file, row };
}
