import { PATHS_PER_WORK } from '../../core/limits.ts';
import type { HandedIn } from '../../core/work.ts';
import type { HeldWork, MeasuredWork, SavedWork } from '../../ledger/hand-in.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { TeamPlace } from '../work/team-places.ts';
import type { Travel } from '../work/travel.ts';
import { squashOf } from './squash.ts';

/** What merging and packing need. */
export interface Merging {
  readonly ledger: Ledger;
  readonly travel: Travel | undefined;
  readonly place: TeamPlace;
}

/** How much a save changed. */
export async function sizeOf(
  { depot }: TeamPlace,
  { base, commit, here = commit }: SavedWork,
): Promise<Pick<MeasuredWork, 'files' | 'added' | 'removed' | 'paths'>> {
  const { files, added, deleted: removed } = await depot.diff(base, here, { maxBytes: 0 });
  const paths = files.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
  return { files: files.length, added, removed, paths: paths.slice(0, PATHS_PER_WORK) };
}

/** Makes the commit that brings the work of a task onto a tip, in memory; or says which paths conflict. */
export async function landOnto(
  { ledger, place: { depot, checkout } }: Omit<Merging, 'travel'>,
  { teamId, taskId, memberId, result }: Omit<HeldWork, 'epoch'> & { readonly result: string | undefined },
  { tip, base, work: saved }: { readonly tip: string; readonly base: string; readonly work: string },
): Promise<Pick<HandedIn, 'merged' | 'conflicts'>> {
  const { commit, history, isRewritten } = await ledger.view(teamId, (state) => ({
    commit: squashOf(state, { taskId, memberId, result, checkout }),
    history: state.team?.work?.history ?? 'squash',
    isRewritten: state.team?.work?.rewritten === true,
  }));
  // A merge with what a person took off the branch would bring that back.
  const isOnBranch = !isRewritten || (await depot.descends(tip, base));
  const isKept = history === 'keep' && isOnBranch;
  // Of the work, not of its saves: these may have what the member took out again.
  const work = isKept ? await depot.flatten({ commit: saved, base, name: `${teamId}/${memberId}` }) : saved;
  const landed = await depot.land(
    { tip, work, ...(isKept && { history: 'keep' }), ...(!isOnBranch && { base }) },
    { ...commit, at: Date.now() },
  );
  if ('landed' in landed) return { merged: landed.landed };
  return { conflicts: landed.conflicts.slice(0, PATHS_PER_WORK).map(({ path }) => path) };
}

/** Merges a save onto the present tip. On several machines, the result lies in the store when this resolves. */
export async function mergeWork(
  merging: Merging,
  held: HeldWork,
  saved: SavedWork & { readonly result: string | undefined },
): Promise<HandedIn> {
  const { travel, place } = merging;
  const { teamId, memberId, epoch } = held;
  const { base, commit, here = commit, result } = saved;
  const about = { memberId, epoch, base, commit, onto: place.work.tip };
  const size = await sizeOf(place, saved);
  if (size.files === 0) return { ...about, ...size };
  const outcome = await landOnto(merging, { ...held, result }, { tip: place.work.tip, base, work: here });
  const pack = await travel?.send(teamId, place, { ...about, merged: outcome.merged, commit: here });
  return { ...about, ...size, ...outcome, ...(pack && { pack }) };
}
