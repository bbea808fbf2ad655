import { SYSTEM } from '../core/actor.ts';
import { isHandedIn } from '../core/approval.ts';
import { decide } from '../core/decide.ts';
import { hasCode, TeamError } from '../core/errors.ts';
import { isApart } from '../core/folder.ts';
import { requireFresh } from '../core/rules/guard.ts';
import type { TeamState } from '../core/state.ts';
import type { SharedTask } from '../core/task.ts';
import { requireTask, requireTeam, viewTask } from '../core/view.ts';
import type { HandedIn, StandingWork, SubmitWorkInput, WorkPack } from '../core/work.ts';
import type { NewCommand } from './ledger.ts';
import type { Completion, Judged } from './task-gate.ts';

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
  /** What is in the folder and in no save, each with the reason: it does not land, whoever accepts the work. */
  readonly unsaved?: readonly string[];
}

/** A save with its size. On several machines, its pack lies where all of them find it. */
export interface MeasuredWork extends SavedWork, Pick<SubmitWorkInput, 'files' | 'added' | 'removed' | 'paths'> {
  readonly pack?: WorkPack;
}

/** Saves what members have in their workspaces, when they complete a task. The merge queue lands it. */
export interface WorkSaver {
  /** Saves the holder's workspace. */
  save(held: HeldWork): Promise<SavedWork>;
  /** Says how much a save changed, and makes it available to the merge queue. */
  measure(held: HeldWork, saved: SavedWork): Promise<MeasuredWork>;
  /** Merges a save onto the present tip, in memory. */
  merge(held: HeldWork, saved: SavedWork, result: string | undefined): Promise<HandedIn>;
  /** Resolves when the branch and the holder's folder are as the last verdict about the task says. */
  settled(held: Pick<HeldWork, 'teamId' | 'taskId'>): Promise<void>;
}

/** A completion that is under way. */
interface HandingIn {
  readonly teamId: string;
  readonly completion: Completion;
  readonly now: () => number;
  readonly view: <V>(pick: (state: TeamState) => V) => Promise<V>;
  /** Resolves with the first thing that `look` finds, or with undefined after a while, if a time is given. */
  readonly until: <V>(look: (state: TeamState) => V | undefined) => Promise<V | undefined>;
  /** Asks the gate about the holder's folder. */
  readonly judge: (work?: HandedIn) => Promise<Judged>;
  /** Records the completion, or with `submit` that its work joins the queue. */
  readonly record: (judged: Judged) => Promise<SharedTask>;
  readonly reject: (rejection: NewCommand) => Promise<void>;
}

/**
 * Completes a task. The work of a holder that works apart is saved, joins the merge queue, and the answer waits until it
 * has landed or was sent back. Work without changes is judged here, like work in a shared folder.
 */
export async function handIn(lander: WorkSaver, handing: HandingIn): Promise<SharedTask> {
  const { teamId, completion, now, view, until, judge, record, reject } = handing;
  const { taskId, result, refused } = completion;
  const { held, isNew } = await view((state) => {
    const held = heldWork(state, teamId, taskId);
    // Nothing is saved for a completion that will be refused.
    return { held, isNew: held !== undefined && decide(state, ofNothing(state, held)).length > 0 };
  });
  if (!held) return record(await judge());
  if (isNew) {
    const saved = await lander.save(held);
    const { problem: feedback } = saved;
    if (feedback !== undefined) {
      // It counts as a try, like a gate's rejection: otherwise an agent could go on like that forever.
      await reject({ type: 'task.reject', by: SYSTEM, taskId, feedback, result, epoch: held.epoch });
      throw new TeamError('gate_rejected', feedback);
    }
    const { here: _here, problem: _problem, unsaved: _unsaved, ...measured } = await lander.measure(held, saved);
    const { memberId, epoch } = held;
    if (measured.files === 0) {
      const unchanged = { memberId, epoch, ...measured };
      const judged = await judge({ ...unchanged, onto: await view(tipOf) });
      return onTip(view, (onto) => record({ ...judged, work: { ...unchanged, onto } }));
    }
    await record({ submit: { taskId, memberId, epoch, ...measured, result, refused } });
  }
  // Called again under the same id, it waits for the same verdict.
  const verdict = await until((state) => verdictOn(state, held));
  await lander.settled(held);
  if (verdict instanceof TeamError) throw verdict;
  return verdict ?? view((state) => viewTask(state, requireTask(state, taskId)));

  /** The completion as it would be if nothing had changed: whether it is allowed does not depend on that. */
  function ofNothing(state: TeamState, { memberId, epoch }: HeldWork) {
    const tip = tipOf(state);
    const size = { files: 0, added: 0, removed: 0, paths: [] };
    return {
      at: now(),
      ...completion,
      accepted: true,
      work: { memberId, epoch, base: tip, commit: tip, onto: tip, ...size },
    };
  }
}

/** Lands the work of a task as a person accepts it, without a gate. Returns what was recorded, and what no save had. */
export async function acceptWork<R>(
  lander: WorkSaver,
  { teamId, taskId, result }: { teamId: string; taskId: string; result: string | undefined },
  { view, record }: Pick<HandingIn, 'view'> & { record: (work?: HandedIn) => Promise<R> },
): Promise<{ readonly recorded: R; readonly unsaved: readonly string[] }> {
  const held = await view((state) => heldWork(state, teamId, taskId));
  if (!held) return { recorded: await record(), unsaved: [] };
  const saved = await lander.save(held);
  // With its conflict open, what was handed in stays beside the branch: no marker lands.
  const isConflicted = (state: TeamState): boolean =>
    requireTask(state, taskId, { deleted: true }).work?.state === 'conflicted';
  if (saved.problem !== undefined && (await view(isConflicted))) return { recorded: await record(), unsaved: [] };
  const recorded = await onTip(view, async () => record(await lander.merge(held, saved, result)));
  await lander.settled(held);
  return { recorded, unsaved: saved.unsaved ?? [] };
}

/** Does something that needs the present tip, again while the branch moves meanwhile. */
async function onTip<R>(view: HandingIn['view'], work: (tip: string) => Promise<R>): Promise<R> {
  for (;;) {
    const tip = await view(tipOf);
    try {
      return await work(tip);
    } catch (error) {
      if (!isStale(error) || (await view(tipOf)) === tip) throw error;
    }
  }
}

/** A team never loses its workspaces, so one whose member works apart has a tip. */
function tipOf(state: TeamState): string {
  return (requireTeam(state).work as StandingWork).tip;
}

export function isStale(error: unknown): boolean {
  return hasCode(error, 'stale_revision');
}

/** The completed task, or why its work went back; undefined while it waits. */
function verdictOn(state: TeamState, { taskId, epoch }: HeldWork): SharedTask | TeamError | undefined {
  const task = requireTask(state, taskId);
  if (task.status === 'completed') return viewTask(state, task);
  const { work, feedback } = task;
  if (task.status === 'in_progress' && task.epoch === epoch) {
    if (isHandedIn(work)) return undefined;
    const withdrawn = work?.withdrawn;
    // Whatever sends work back says why.
    if (withdrawn === undefined) return new TeamError('gate_rejected', feedback as string);
    return new TeamError('gate_rejected', `${withdrawn}\nA person was asked. The work needs no change`);
  }
  requireFresh(task, { epoch });
  return new TeamError('conflict', `Task ${taskId} is ${task.status} now: its work did not land`);
}

/** The task as its holder works on it, if that is in a workspace of its own. */
function heldWork(state: TeamState, teamId: string, taskId: string): HeldWork | undefined {
  const task = state.tasks.get(taskId);
  if (!task) return undefined;
  const { status, assigneeId: memberId = '', epoch } = task;
  return isApart(state, memberId) && status === 'in_progress' ? { teamId, taskId, memberId, epoch } : undefined;
}
