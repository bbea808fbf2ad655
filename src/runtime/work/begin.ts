import { SYSTEM } from '../../core/actor.ts';
import { isInFolderOf } from '../../core/folder.ts';
import type { TeamState } from '../../core/state.ts';
import { requireTask } from '../../core/view.ts';
import type { TaskWork } from '../../core/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Depot } from '../../workspaces/depot.ts';
import { savesRef } from '../../workspaces/depot/saves.ts';
import type { Saved, Workspace } from '../../workspaces/workspace.ts';
import type { Branches } from './branches.ts';
import { claimOf } from './held.ts';
import type { Worker } from './held.ts';
import type { Overlaps } from './overlaps.ts';
import type { Preparing } from './prepare.ts';
import { tellLeft } from './unsaved.ts';
import type { Telling } from './waiting.ts';

/** A task that a member has just claimed. */
export interface ClaimedTask {
  readonly taskId: string;
  readonly epoch: number;
}

/** What `openBeginning` needs, and how it moves folders. */
export interface BeginningOptions {
  readonly ledger: Ledger;
  readonly branches: Branches;
  readonly preparing: Preparing;
  readonly overlaps: Pick<Overlaps, 'drop'>;
  readonly onError: (error: unknown, about: Worker) => void;
  readonly workspaceOf: (worker: Worker) => Promise<Workspace>;
  readonly prepare: (worker: Worker, workspace: Workspace, telling: Telling) => Promise<void>;
  readonly refresh: (workspace: Workspace, tip: string, hasWork: boolean) => Promise<unknown>;
  readonly layMerged: (worker: Worker, tip: string) => Promise<void>;
  readonly bringForward: (worker: Worker) => Promise<void>;
}

/** Prepares workspaces for tasks that were claimed, and records what they begin from. */
export function openBeginning(options: BeginningOptions) {
  const { ledger, branches, preparing, overlaps, onError, workspaceOf, prepare, refresh } = options;

  return {
    async begin(worker: Worker, { taskId, epoch }: ClaimedTask, telling: Telling): Promise<void> {
      const { teamId, memberId } = worker;
      telling.step('is being brought to the branch');
      const { depot, work } = await branches.bring(teamId);
      const { tip } = work;
      const workspace = await workspaceOf(worker);
      const saved = await workspace.save();
      overlaps.drop(worker);
      const { before, isHandled, others } = await ledger.view(teamId, (state) => ({
        before: requireTask(state, taskId).work,
        // Whatever became of it, the journal names the commit.
        isHandled: [...state.tasks.values()].some(({ work }) => work?.commit === saved?.commit),
        others: othersOf(state, memberId, taskId),
      }));
      const hasWork = saved !== undefined && saved.changes.length > 0;
      // It did a part of this very task before, and knows it: a process that ended, a turn that was cancelled.
      const isOfSetup = hasWork && preparing.isOfSetup(worker, saved);
      const isOwn = hasWork && before?.memberId === memberId && before.aside === undefined;
      // The depot lost what it began from, and the folder has it still.
      const isLost = isOwn && (await depot.has([beganFrom(before)])).length === 0;
      // What another task has left in the folder since, as to the merge queue, is no part of this one.
      const isOthers = workspace.tasks?.includes(taskId) === false;
      const isContinued = isOwn && !isOthers && (beganFrom(before) === saved.base || isLost) && !isHandled;
      // It went back because of a conflict, and both sides are not in the folder yet.
      const isSentBack = isOwn && before.state === 'conflicted' && before.commit === saved.commit;
      if (saved && others.length > 0) await putAside(worker, saved, others);
      else if (hasWork && !isContinued && !isHandled && !isOfSetup) {
        await keep(worker, saved, { why: 'it was not handed in with a task' });
      }
      if (isSentBack) await options.layMerged(worker, tip);
      else if (!isContinued) {
        // What it had written goes with the refresh.
        if (isOfSetup) await workspace.forgetSetup();
        // Refuses if a file is in the way: the task may need what landed, and its holder could not tell that it lacks.
        if (hasWork || workspace.base !== tip) await refresh(workspace, tip, true);
        // It would be in the way of handing in this task, which knows nothing of it.
        const left = await workspace.discard(saved?.leftOut ?? []);
        if (left.length > 0) await tellLeft(ledger, worker, left);
        if (before?.memberId === memberId) await bringBack(depot, workspace, { before, tip });
      }
      await workspace.workOn([taskId]);
      await prepare(worker, workspace, telling);
      const base = workspace.base ?? tip;
      const command = { type: 'work.begin', by: memberId, taskId, memberId, epoch, base } as const;
      await ledger.execute(teamId, command, () => undefined);
    },

    /** The same for a task that was claimed during a turn: what the member changed stays in its folder. */
    async inTurn(worker: Worker, { taskId, epoch }: ClaimedTask): Promise<void> {
      const { teamId, memberId } = worker;
      const { isDue, isOnly } = await ledger.view(teamId, (state) => claimOf(state, memberId, { taskId, epoch }));
      if (!isDue) return;
      // What it changed for another task is merged with the tip when that task is completed.
      if (isOnly) await options.bringForward(worker).catch((error: unknown) => onError(error, worker));
      const workspace = await workspaceOf(worker);
      await workspace.workOn(isOnly ? [taskId] : [...(workspace.tasks ?? []), taskId]);
      const { base = '' } = workspace;
      const begun = { type: 'work.begin', by: memberId, taskId, memberId, epoch, base } as const;
      await ledger.execute(teamId, begun, () => undefined);
    },
  };

  /** The member still holds these tasks, such as one that a person is asked about. The folder goes on without them. */
  async function putAside(worker: Worker, saved: Saved, tasks: readonly ClaimedTask[]): Promise<void> {
    for (const task of tasks) await keep(worker, saved, { ...task, why: 'its holder goes on with another task' });
  }

  async function keep(
    { teamId, memberId }: Worker,
    { commit }: Saved,
    { taskId, epoch, why }: Partial<ClaimedTask> & { readonly why: string },
  ): Promise<void> {
    const ref = savesRef({ team: teamId, member: memberId });
    const kept = { type: 'work.keep', by: SYSTEM, memberId, taskId, commit, ref, why } as const;
    const commandId = taskId === undefined ? `kept-${commit}` : `aside-${taskId}-${epoch}-${commit}`;
    await ledger.execute(teamId, { ...kept, commandId }, () => undefined);
  }
}

/** The other tasks whose work is in the member's folder. What it left to the merge queue is not its own any more. */
function othersOf(state: TeamState, memberId: string, taskId: string): ClaimedTask[] {
  return [...state.tasks.values()]
    .filter((task) => task.id !== taskId && isInFolderOf(task, memberId) && !task.work?.left)
    .map(({ id, epoch }) => ({ taskId: id, epoch }));
}

/**
 * Lays what a member did for a task before into its folder again, merged onto the tip: it went back after a person looked
 * at it, and the folder went on without it. Nothing of it is on the branch.
 */
async function bringBack(
  depot: Depot,
  workspace: Workspace,
  { before, tip }: { readonly before: TaskWork; readonly tip: string },
): Promise<void> {
  const { state, aside, commit = '' } = before;
  const earlier = aside ?? commit;
  const isOpen = state === 'begun' || state === 'conflicted';
  const base = aside === undefined ? before.base : beganFrom(before);
  if (!isOpen || earlier === '' || earlier === base || workspace.base !== tip) return;
  if ((await depot.has([earlier, base])).length < 2) return;
  const { tree } = await depot.merge(tip, earlier, { base });
  await workspace.lay(tree, tip);
}

/** The commit that the folder began from. Of a conflict, it has both sides. */
function beganFrom({ state, base, onto = base }: TaskWork): string {
  return state === 'conflicted' ? onto : base;
}
