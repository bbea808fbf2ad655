import { PATHS_PER_WORK } from '../../core/limits.ts';
import type { HandedIn } from '../../core/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { HeldWork, SavedWork } from '../../ledger/work-lander.ts';
import { squashOf } from './squash.ts';
import type { TeamPlace } from './team-places.ts';
import type { Travel } from './travel.ts';

/** Merges a save onto the tip, in memory. On several machines, the result lies in the store when this resolves. */
export async function mergeWork(
  { ledger, travel, place }: { ledger: Ledger; travel: Travel | undefined; place: TeamPlace },
  { teamId, taskId, memberId, epoch }: HeldWork,
  { base, commit, here = commit, result }: SavedWork & { readonly result: string | undefined },
): Promise<HandedIn> {
  const { depot, checkout, work } = place;
  const about = { memberId, epoch, base, commit, onto: work.tip };
  const changed = await depot.diff(base, here, { maxBytes: 1 });
  if (changed.files.length === 0) return { ...about, files: 0, added: 0, removed: 0, paths: [] };
  const size = {
    files: changed.files.length,
    added: changed.added,
    removed: changed.deleted,
    paths: changed.files.slice(0, PATHS_PER_WORK).map(({ path }) => path),
  };
  const squash = await ledger.view(teamId, (state) => squashOf(state, { taskId, memberId, result, checkout }));
  const landed = await depot.land({ tip: work.tip, work: here }, { ...squash, at: Date.now() });
  const outcome =
    'landed' in landed
      ? { merged: landed.landed }
      : { conflicts: landed.conflicts.slice(0, PATHS_PER_WORK).map(({ path }) => path) };
  const pack = await travel?.send(teamId, place, { ...about, ...outcome, commit: here });
  return { ...about, ...size, ...outcome, ...(pack && { pack }) };
}
