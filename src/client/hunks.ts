import type { ResultOf } from '../operations/index.ts';

/** Lines that changed together. */
export type Hunk = ResultOf<'work.lines'>['hunks'][number];

/** Adds a part of a difference; its first hunk may be the rest of the last one. */
export function joinHunks(before: readonly Hunk[], [first, ...others]: readonly Hunk[]): Hunk[] {
  const last = before.at(-1);
  if (!first) return [...before];
  if (!first.isRest || !last) return [...before, first, ...others];
  const cut = [...last.cut, ...first.cut.map(({ line, length }) => ({ line: line + last.lines.length, length }))];
  return [...before.slice(0, -1), { ...last, lines: [...last.lines, ...first.lines], cut }, ...others];
}
