import { SYSTEM } from '../core/actor.ts';
import { decide } from '../core/decide.ts';
import { TeamError } from '../core/errors.ts';
import type { TeamState } from '../core/state.ts';
import type { HandedIn } from '../core/work.ts';
import type { NewCommand } from './ledger.ts';
import type { Judged } from './task-gate.ts';

/** A task whose holder works in a workspace of its own. */
export interface HeldWork {
  readonly teamId: string;
  readonly taskId: string;
  readonly memberId: string;
  readonly epoch: number;
}

/** What a holder has in its workspace, saved. */
export interface SavedWork {
  readonly base: string;
  readonly commit: string;
  /** The same as this machine has it, if another machine saved it. */
  readonly here?: string;
  /** Why it cannot be handed in, and what to do; undefined if it can. */
  readonly problem?: string | undefined;
}

/** Brings the work of completed tasks onto the team's branch. */
export interface WorkLander {
  /** Saves the holder's workspace. */
  save(held: HeldWork): Promise<SavedWork>;
  /** Merges a save onto the present tip, in memory. */
  merge(held: HeldWork, saved: SavedWork, result: string | undefined): Promise<HandedIn>;
  /** The journal has it: the branch and the workspace follow. Never throws. */
  landed(held: HeldWork, work: HandedIn): Promise<void>;
  /** Says to the holder what conflicts: the files, whose landed work they meet, the lines, and what to do. */
  explain(held: HeldWork, work: HandedIn): Promise<string>;
  /** The journal has it: the workspace gets both sides, with markers where they conflict. Never throws. */
  sentBack(held: HeldWork, work: HandedIn): Promise<void>;
}

/** A completion that is under way: a member's, or a person's who accepts what a gate rejected. */
interface HandingIn<R> {
  readonly teamId: string;
  readonly taskId: string;
  readonly result: string | undefined;
  readonly command: NewCommand;
  readonly now: () => number;
  readonly view: <V>(pick: (state: TeamState) => V) => Promise<V>;
  readonly judge: () => Promise<Judged>;
  readonly record: (judged: Judged) => Promise<R>;
  /** Records that the work goes back to its holder. Without it, the work is accepted as it is. */
  readonly reject?: (rejection: NewCommand) => Promise<void>;
}

/**
 * Completes a task with the work of its holder. The workspace is saved before the gate runs, so that exactly what is
 * handed in is judged. If the branch moves meanwhile, the same save is merged again; the gate is not asked again. Work
 * that conflicts goes back to its holder, before a gate spends time on it.
 */
export async function handIn<R>(lander: WorkLander, handing: HandingIn<R>): Promise<R> {
  const { teamId, taskId, result, command, now, view, judge, record, reject } = handing;
  const held = await view((state) => {
    const work = heldWork(state, teamId, taskId);
    // Nothing is saved for a completion that will be refused or was done before.
    return work && decide(state, { at: now(), ...command }).length > 0 ? work : undefined;
  });
  if (!held) return record(await judge());
  const saved = await lander.save(held);
  const { problem: feedback } = saved;
  if (feedback !== undefined && reject) {
    // It counts as a try, like a gate's rejection: otherwise an agent could go on like that forever.
    await reject({ type: 'task.reject', by: SYSTEM, taskId, feedback, result, epoch: held.epoch });
    throw new TeamError('gate_rejected', feedback);
  }
  let judged: Judged | undefined;
  for (;;) {
    const work = await lander.merge(held, saved, result);
    try {
      if (reject && work.conflicts !== undefined) await sendBack(work, reject);
      judged ??= await judge();
      const recorded = await record({ ...judged, work });
      await lander.landed(held, work);
      return recorded;
    } catch (error) {
      const isStale = error instanceof TeamError && error.code === 'stale_revision';
      if (!isStale || (await view(({ team }) => team?.work?.tip === work.onto))) throw error;
    }
  }

  async function sendBack(work: HandedIn, reject: (rejection: NewCommand) => Promise<void>): Promise<never> {
    const feedback = await lander.explain(held as HeldWork, work);
    await reject({ type: 'task.reject', by: SYSTEM, taskId, feedback, result, epoch: work.epoch, work });
    await lander.sentBack(held as HeldWork, work);
    throw new TeamError('gate_rejected', feedback);
  }
}

/** The task as its holder works on it, if that is in a workspace of its own. */
function heldWork(state: TeamState, teamId: string, taskId: string): HeldWork | undefined {
  const task = state.tasks.get(taskId);
  if (!task) return undefined;
  const { status, assigneeId: memberId = '', epoch } = task;
  const isApart = state.team?.work !== undefined && state.members.get(memberId)?.workspace === 'own';
  return isApart && status === 'in_progress' ? { teamId, taskId, memberId, epoch } : undefined;
}
