import { SYSTEM } from '../core/actor.ts';
import { decide } from '../core/decide.ts';
import { TeamError } from '../core/errors.ts';
import type { TeamState } from '../core/state.ts';
import type { HandedIn } from '../core/work.ts';
import type { NewCommand } from './ledger.ts';
import type { Judged, JudgedFolder } from './task-gate.ts';

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

/** Merged work that `setup` fails for. */
export interface Unready {
  readonly problem: string;
  /** A person has to approve what the setup runs. */
  readonly unapproved: boolean;
}

/** Brings the work of completed tasks onto the team's branch. */
export interface WorkLander {
  /** Saves the holder's workspace. */
  save(held: HeldWork): Promise<SavedWork>;
  /** Runs one landing of a team after the other: a verdict about merged work holds only while the tip stays. */
  inTurn<R>(teamId: string, land: () => Promise<R>): Promise<R>;
  /** Lays merged work into a folder where gates can judge it; or says why it cannot be made ready there. */
  checkOut(held: HeldWork, merged: string): Promise<JudgedFolder | Unready>;
  /** Merges a save onto the present tip, in memory. */
  merge(held: HeldWork, saved: SavedWork, result: string | undefined): Promise<HandedIn>;
  /** The journal has it: the branch and the workspace follow. Never throws. */
  landed(held: HeldWork, work: HandedIn): Promise<void>;
  /** Says to the holder what conflicts: the files, whose landed work they meet, the lines, and what to do. */
  explain(held: HeldWork, work: HandedIn): Promise<string>;
  /** The journal has it: the workspace gets the tip merged with the work, with markers where they conflict. Never throws. */
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
  /** Judges the work in its holder's folder, or merged with what landed meanwhile. */
  readonly judge: (merged?: JudgedFolder) => Promise<Judged>;
  /** Whether anything judges. */
  readonly isJudged: () => Promise<boolean>;
  readonly record: (judged: Judged) => Promise<R>;
  /** Records that the work goes back to its holder. Without it, the work is accepted as it is. */
  readonly reject?: (rejection: NewCommand) => Promise<void>;
}

/**
 * Completes a task with the work of its holder. The workspace is saved before the gate runs, so that exactly what is
 * handed in is judged: first alone, in the holder's folder, then merged, if other work landed since it began. So every
 * tip of the branch has passed the gates. Work that conflicts goes back to its holder.
 */
export async function handIn<R>(lander: WorkLander, handing: HandingIn<R>): Promise<R> {
  const { teamId, taskId, result, command, now, view, judge, isJudged, record, reject } = handing;
  const held = await view((state) => {
    const work = heldWork(state, teamId, taskId);
    // Nothing is saved for a completion that will be refused or was done before.
    return work && decide(state, { at: now(), ...command }).length > 0 ? work : undefined;
  });
  if (!held) return record(await judge());
  const saved = await lander.save(held);
  const { problem: feedback } = saved;
  // A person accepts it with its conflict open: what was handed in stays beside the branch, and no marker lands.
  if (feedback !== undefined && !reject && (await view(isConflicted))) return record({});
  if (feedback !== undefined && reject) {
    // It counts as a try, like a gate's rejection: otherwise an agent could go on like that forever.
    await reject({ type: 'task.reject', by: SYSTEM, taskId, feedback, result, epoch: held.epoch });
    throw new TeamError('gate_rejected', feedback);
  }
  // Before a gate spends time on it.
  const first = await mergeOrSendBack(held);
  const alone = await judge();
  return lander.inTurn(teamId, () => land(held, alone));

  async function land(held: HeldWork, alone: Judged): Promise<R> {
    for (let work = first; ; work = await mergeOrSendBack(held)) {
      if (await hasMoved(work)) continue;
      try {
        const judged = (await judgeMerged(held, work)) ?? alone;
        const recorded = await record({ ...judged, work });
        await lander.landed(held, work);
        return recorded;
      } catch (error) {
        if (!isStale(error) || !(await hasMoved(work))) throw error;
      }
    }
  }

  /** Undefined if the merged work is what was judged alone, or nothing judges. A person's yes is a verdict, too. */
  async function judgeMerged(held: HeldWork, work: HandedIn): Promise<Judged | undefined> {
    const { merged, onto } = work;
    if (!reject || merged === undefined || merged === onto || onto === saved.base) return undefined;
    if (!(await isJudged())) return undefined;
    const folder = await lander.checkOut(held, merged);
    try {
      if ('problem' in folder) throw await rejectUnready(held, folder, reject);
      return await judge(folder);
    } catch (error) {
      if (error instanceof TeamError && error.code === 'gate_rejected') await lander.sentBack(held, work);
      throw error;
    }
  }

  async function rejectUnready(
    { epoch }: HeldWork,
    { problem: feedback, unapproved }: Unready,
    reject: (rejection: NewCommand) => Promise<void>,
  ): Promise<TeamError> {
    const about = { taskId, feedback, result, epoch, ...(unapproved && { unable: true }) };
    await reject({ type: 'task.reject', by: SYSTEM, ...about });
    return new TeamError('gate_rejected', feedback);
  }

  async function mergeOrSendBack(held: HeldWork): Promise<HandedIn> {
    for (;;) {
      const work = await lander.merge(held, saved, result);
      if (!reject || work.conflicts === undefined) return work;
      const feedback = await lander.explain(held, work);
      try {
        await reject({ type: 'task.reject', by: SYSTEM, taskId, feedback, result, epoch: work.epoch, work });
      } catch (error) {
        if (isStale(error) && (await hasMoved(work))) continue;
        throw error;
      }
      await lander.sentBack(held, work);
      throw new TeamError('gate_rejected', feedback);
    }
  }

  function isConflicted({ tasks }: TeamState): boolean {
    return tasks.get(taskId)?.work?.state === 'conflicted';
  }

  /** Whether the branch has gone on since the work was merged. */
  function hasMoved({ onto }: HandedIn): Promise<boolean> {
    return view(({ team }) => team?.work?.tip !== onto);
  }
}

function isStale(error: unknown): boolean {
  return error instanceof TeamError && error.code === 'stale_revision';
}

/** The task as its holder works on it, if that is in a workspace of its own. */
function heldWork(state: TeamState, teamId: string, taskId: string): HeldWork | undefined {
  const task = state.tasks.get(taskId);
  if (!task) return undefined;
  const { status, assigneeId: memberId = '', epoch } = task;
  const isApart = state.team?.work !== undefined && state.members.get(memberId)?.workspace === 'own';
  return isApart && status === 'in_progress' ? { teamId, taskId, memberId, epoch } : undefined;
}
