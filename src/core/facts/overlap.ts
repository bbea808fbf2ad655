import { PATHS_PER_OVERLAP } from '../limits.ts';
import { overlapKey } from '../overlap-view.ts';
import { putOverlap } from '../tables.ts';
import type { Apply } from './apply.ts';

/** The members were told whatever is new in it: the rule decides that from the same record. */
export const applyOverlap: Apply['work:overlapped'] = (state, { sides, files, paths, conflicts }) => {
  const key = overlapKey(sides);
  const known = state.overlaps.get(key);
  const told = {
    paths: join(known?.told.paths, paths),
    conflicts: join(known?.told.conflicts, conflicts),
  };
  const isTold = told.paths !== known?.told.paths || told.conflicts !== known.told.conflicts;
  const times = (known?.times ?? 0) + Number(isTold);
  putOverlap(state, key, { sides, files, paths, conflicts, told, times });
};

/** Both lists, as far as they are kept; the first one itself if nothing is added. */
function join(before: readonly string[] = [], now: readonly string[]): string[] {
  const added = now.filter((path) => !before.includes(path)).slice(0, PATHS_PER_OVERLAP - before.length);
  return added.length === 0 ? (before as string[]) : [...before, ...added];
}
