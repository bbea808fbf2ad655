import type { Actor } from '../core/actor.ts';
import { ClaimConflictError } from '../core/errors.ts';
import type { TeamState } from '../core/state.ts';
import type { SharedTask } from '../core/task.ts';
import { requireTask, viewTask } from '../core/view.ts';
import type { ClaimKeeper } from './claim-keeper.ts';
import type { Ledger } from './ledger.ts';

/** Options of a claim: its id, the daemon through which it comes, how long its holder may be silent in milliseconds. */
export interface ClaimOptions {
  readonly commandId?: string;
  readonly onHost?: string;
  readonly lease?: number;
}

/** A task, if there is one. */
export type Found = Promise<SharedTask | undefined>;

/** Claims that also hold in the other program that shares a team's task list, if one does. */
export function openClaims(ledger: Ledger, keeper: ClaimKeeper | undefined) {
  return {
    confirmed,

    /** Takes the best task that is ready for the member, or none. */
    next(teamId: string, by: string, options: ClaimOptions): Found {
      // Not `async`: nearly every claim passes here and needs no confirmation.
      return claimBest(teamId, by, options).then((task) =>
        task && keeper?.keeps(teamId) ? claimConfirmed(keeper, { teamId, by, options, first: task }) : task,
      );
    },
  };

  /** The task, if the claim also holds in the other program. */
  async function confirmed(teamId: string, task: SharedTask, by: Actor): Promise<SharedTask> {
    if (!keeper || (await keeper.confirm(teamId, task, by))) return task;
    throw new ClaimConflictError(`Another program took task ${task.id} at the same moment: take another one`);
  }

  /** Confirms a claim; if that fails, takes the next best task. */
  async function claimConfirmed(
    claims: ClaimKeeper,
    { teamId, by, options, first }: { teamId: string; by: string; options: ClaimOptions; first: SharedTask },
  ): Found {
    let task: SharedTask | undefined = first;
    for (let attempt = 2; task; attempt++) {
      try {
        if (await claims.confirm(teamId, task, by)) return task;
      } catch (error) {
        // A withheld task cannot be claimed by anyone, so try another one.
        if (!(await isWithheld(teamId, task.id))) throw error;
      }
      const { commandId } = options;
      // Each attempt has its own id, so that a repeated call goes through the same tasks.
      const own = commandId !== undefined && { commandId: `${commandId}.${attempt}` };
      task = await claimBest(teamId, by, { ...options, ...own });
    }
    return task;
  }

  function claimBest(teamId: string, by: string, options: ClaimOptions): Found {
    const { commandId } = options;
    return ledger.execute(teamId, { ...options, type: 'task.claim', by }, (state, [claimed]) => {
      const id = claimed?.type === 'task:claimed' ? claimed.taskId : receiptTask(state, commandId);
      return id === undefined ? undefined : viewTask(state, requireTask(state, id, { deleted: true }));
    });
  }

  function isWithheld(teamId: string, taskId: string): Promise<boolean> {
    return ledger.view(teamId, (state) => requireTask(state, taskId, { deleted: true }).withheld !== undefined);
  }
}

/** The task that a command with this id was about, if it was executed. */
export function receiptTask(state: TeamState, commandId: string | undefined): string | undefined {
  return commandId === undefined ? undefined : state.receipts.get(commandId)?.taskId;
}
