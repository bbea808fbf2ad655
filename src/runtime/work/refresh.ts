import { SYSTEM } from '../../core/actor.ts';
import { isHandedIn } from '../../core/approval.ts';
import { TeamError } from '../../core/errors.ts';
import { isInFolderOf } from '../../core/folder.ts';
import type { TaskRecord, TeamState } from '../../core/state.ts';
import { joinSome } from '../../core/text.ts';
import { requireMember } from '../../core/view.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Saved } from '../../workspaces/workspace.ts';
import type { Worker } from './held.ts';
import { requireAtRest } from './saves.ts';
import type { Parts } from './saves.ts';
import type { TeamPlace } from './team-places.ts';
import type { TeamWorks } from './team-works.ts';
import { unlessEdited } from './unless-edited.ts';

/** What a refresh did. */
export interface Refreshed {
  readonly memberId: string;
  /** The tip, which the folder begins from now. */
  readonly base: string;
  /** By how many commits it was behind. */
  readonly behind: number;
  /** What the commits between changed. */
  readonly files: string[];
}

/**
 * Merges the tip into a member's folder, beside its own changes. Where both changed the same lines nothing is touched: the
 * refusal names the files. A member calls it for itself in a turn; anyone else must wait until it is at rest.
 */
export async function refreshWork(
  ledger: Ledger,
  works: TeamWorks,
  worker: Worker & { readonly isOwner: boolean },
): Promise<Refreshed> {
  // Who is in a turn is told at once.
  await lookAtHeld(ledger, worker);
  return works.alone(worker, async () => {
    const { depot, work } = await works.bring(worker.teamId);
    return moveOn({ ledger, works }, worker, { depot, work });
  });
}

/** The tasks whose work is in the folder, if it may be refreshed now. */
async function lookAtHeld(
  ledger: Ledger,
  { teamId, memberId, isOwner }: Worker & { readonly isOwner: boolean },
): Promise<TaskRecord[]> {
  const held = await ledger.view(teamId, (state) => {
    const { workspace } = requireMember(state, memberId);
    if (!state.team?.work || workspace !== 'own') {
      throw new TeamError('conflict', `${memberId} has no workspace of its own: there is nothing to refresh`);
    }
    if (!isOwner) requireAtRest(state, memberId);
    return heldBy(state, memberId);
  });
  for (const task of held) requireOwnHands(task);
  return held;
}

async function moveOn(
  { ledger, works }: Parts,
  worker: Worker & { readonly isOwner: boolean },
  { depot, work }: Pick<TeamPlace, 'depot' | 'work'>,
): Promise<Refreshed> {
  const { teamId, memberId } = worker;
  const { tip } = work;
  const workspace = await works.workspaceOf({ teamId, memberId });
  // It may have begun a turn while it was waited for.
  const held = await lookAtHeld(ledger, worker);
  const saved = await unlessEdited(workspace, move);
  if (!saved) throw new TeamError('internal', `The workspace of ${memberId} is shared`);
  const { base } = saved;
  if (base === tip) return { memberId, base: tip, behind: 0, files: [] };
  const { files } = await depot.diff(base, tip, { maxBytes: 0 });
  const { out } = await depot.handle.run(['rev-list', '--count', `${base}..${tip}`]);
  for (const { id: taskId, epoch } of held) {
    const begun = { type: 'work.begin', by: SYSTEM, taskId, memberId, epoch, base: tip } as const;
    await ledger.execute(teamId, begun, () => undefined);
  }
  return { memberId, base: tip, behind: Number(out.toString()), files: files.map(({ path }) => path) };

  async function move(now: Saved): Promise<Pick<Saved, 'commit'> | undefined> {
    const ifSaved = now.commit;
    if (now.base === tip) return now;
    if (now.changes.length === 0) return workspace.refresh(tip, { ifSaved });
    const { tree, conflicts } = await depot.merge(tip, now.commit);
    if (conflicts.length === 0) return workspace.lay(tree, tip, { ifSaved });
    const paths = conflicts.map(({ path }) => path);
    throw new TeamError(
      'conflict',
      `Nothing was changed: what landed on ${work.branch} conflicts with the changes of ${memberId} in ${joinSome(paths, ', ')}. ` +
        'Go on, and complete the task: then the folder gets both sides, with markers',
    );
  }
}

function heldBy({ tasks }: TeamState, memberId: string): TaskRecord[] {
  return [...tasks.values()].filter((task) => isInFolderOf(task, memberId));
}

/** What was handed in is judged as it is, and both sides of a conflict are brought together by the holder. */
function requireOwnHands({ id, work }: TaskRecord): void {
  if (isHandedIn(work)) {
    throw new TeamError('conflict', `The work of task ${id} waits to land: the merge queue merges it with the branch`);
  }
  if (work?.state === 'conflicted') {
    throw new TeamError(
      'conflict',
      `The folder has both sides of a conflict of task ${id}: resolve it and complete the task`,
    );
  }
}
