import { SYSTEM, USER } from '../core/actor.ts';
import type { CommandOf } from '../core/command.ts';
import { decide } from '../core/decide.ts';
import { TeamError } from '../core/errors.ts';
import { feedbackOf } from '../core/hook.ts';
import type { HookResult, TaskCompletedHookContext, TaskCreatedHookContext } from '../core/hook.ts';
import { describeRefusal } from '../core/refusal.ts';
import type { TaskRecord, TeamState } from '../core/state.ts';
import type { SharedTask } from '../core/task.ts';
import { quote } from '../core/text.ts';
import { requireTask, viewTask } from '../core/view.ts';
import type { HandedIn, SubmitWorkInput } from '../core/work.ts';
import type { NewCommand } from './ledger.ts';

/** Judges a completion before it counts, and a new task before anyone can claim it. */
export interface TaskGate {
  /** Judges in the holder's folder, or in the one that is given. */
  executeTaskCompletedHook(context: TaskCompletedHookContext, judged?: JudgedFolder): Promise<HookResult>;
  /** Whether it judges completions of a team; without this method it does. */
  judgesCompletions?(teamId: string): Promise<boolean>;
  executeTaskCreatedHook?(context: TaskCreatedHookContext): Promise<HookResult>;
  /** Whether it judges new tasks of a team; without this method it does. */
  judgesNewTasks?(teamId: string): Promise<boolean>;
}

/** A workspace with what is judged, and its number. */
export interface JudgedFolder {
  readonly folder: string;
  readonly slot: number;
}

/** Whether new tasks of a team are judged. */
export async function judgesNewTasks(gate: TaskGate, teamId: string): Promise<boolean> {
  if (!gate.executeTaskCreatedHook) return false;
  return (await gate.judgesNewTasks?.(teamId)) ?? true;
}

/** Whether completions of a team are judged. */
export async function judgesCompletions(gate: TaskGate, teamId: string): Promise<boolean> {
  return (await gate.judgesCompletions?.(teamId)) ?? true;
}

/** A new task after its hooks ran. */
export interface NewTaskVerdict {
  readonly task: SharedTask;
  /** Why a blocking gate could not run: the task is still unjudged. */
  readonly unable?: string;
}

/** What judging a new task needs of the team. */
interface NewTaskJudging {
  readonly find: () => Promise<SharedTask>;
  readonly execute: (command: NewCommand) => Promise<SharedTask>;
}

/**
 * Asks the gate about a new task, which nobody can claim meanwhile. If it allows the task, the task becomes claimable.
 * If it rejects, the task is deleted and `gate_rejected` thrown. If the gate itself fails, the task passes. The first
 * verdict counts: if another daemon was faster, the answer is what that one decided.
 */
export async function judgeNewTask(gate: TaskGate, { find, execute }: NewTaskJudging): Promise<NewTaskVerdict> {
  const task = await find();
  const { id: taskId, teamId, title: taskTitle, createdBy } = task;
  const pass = (): Promise<SharedTask> => execute({ type: 'task.update', by: SYSTEM, taskId, unjudged: false });
  // The same call again, after its answer was lost.
  if (task.status === 'deleted') throw rejected(task);
  if (!task.unjudged) return { task };
  let verdict: HookResult | undefined;
  try {
    verdict = await gate.executeTaskCreatedHook?.({ teamId, taskId, taskTitle, createdBy });
  } catch (error) {
    await pass();
    throw error;
  }
  if (verdict?.exitCode !== 2) return { task: await pass() };
  if (verdict.unable !== undefined) return { task, unable: feedbackOf(verdict) || verdict.unable };
  return { task: await deleteRejected(task, execute, feedbackOf(verdict)) };
}

/** Deletes a rejected task and throws; returns the task if another verdict let it pass before. */
export async function deleteRejected(
  task: SharedTask,
  execute: NewTaskJudging['execute'],
  feedback: string,
): Promise<SharedTask> {
  const { status, ...now } = await execute({ type: 'task.delete', by: SYSTEM, taskId: task.id, unjudged: true });
  if (status === 'deleted') throw rejected(task, feedback);
  return { ...now, status };
}

function rejected({ title }: SharedTask, feedback = ''): TeamError {
  return new TeamError('gate_rejected', feedback || `A hook rejected the task ${quote(title)}`);
}

/** A completion that is to be judged. */
export type Completion = Omit<CommandOf<'task.complete'>, 'at'>;

/** The version of the task that a verdict is about. The verdict counts only if the task is still at this version. */
export interface Judged {
  readonly epoch?: number;
  readonly revision?: number;
  /** A gate judged it, and accepted. */
  readonly accepted?: boolean;
  /** The work that the completion hands in. */
  readonly work?: HandedIn;
  /** The work joins the merge queue, and the task is completed when it has landed. */
  readonly submit?: SubmitWorkInput;
}

/** What judging needs of the team. */
interface Judging {
  now(): number;
  view<R>(pick: (state: TeamState) => R): Promise<R>;
  reject(rejection: NewCommand): Promise<void>;
}

/** Judges nothing. */
const NO_GATE: TaskGate = {
  executeTaskCompletedHook: async () => ({ exitCode: 0, stdout: '', stderr: '', duration: 0, timedOut: false }),
};

/**
 * Asks the gate, with nothing locked. A rejection is recorded and thrown as `gate_rejected`. If the model refused, only a
 * gate that accepts completes the task; otherwise a person is asked, because the model would refuse again.
 */
export async function judgeCompletion(
  gate: TaskGate = NO_GATE,
  completion: Completion,
  team: Judging,
): Promise<Judged> {
  const judged = await team.view((state) => {
    // Don't ask the gate about a completion that will be refused or was done before.
    const at = team.now();
    const isNew = decide(state, { at, ...completion, accepted: true }).length > 0;
    return isNew ? completionOf(state, { ...completion, at }) : undefined;
  });
  if (!judged) return {};
  const verdict = await gate.executeTaskCompletedHook(judged.context);
  const { id: taskId, epoch, revision, status } = judged.task;
  const { unable, accepted = false } = verdict;
  const { result } = completion;
  const isRefusal = completion.refused === true && completion.by !== USER;
  const hasPassed = verdict.exitCode !== 2;
  if (hasPassed && (accepted || !isRefusal)) return { epoch, revision, accepted };
  const said = unable ?? (feedbackOf(verdict) || `The gate rejected task ${taskId}`);
  const feedback = isRefusal ? describeRefusal(result, hasPassed ? undefined : said) : said;
  const about = {
    taskId,
    feedback,
    result,
    gate: verdict.command,
    epoch,
    revision,
    ...(unable !== undefined && !hasPassed && { unable: true }),
    ...(isRefusal && { refused: true }),
  };
  if (status === 'in_progress') await team.reject({ type: 'task.reject', by: SYSTEM, ...about });
  // A person who completes a task already knows.
  const asked = (unable !== undefined || isRefusal) && status === 'in_progress' && completion.by !== USER;
  throw new TeamError('gate_rejected', asked ? `${feedback}\nA person was asked. The work needs no change` : feedback);
}

/** What the gate gets to know about a completion, and the task as it is judged. */
export function completionOf(
  state: TeamState,
  { taskId, by, at }: Pick<CommandOf<'task.complete'>, 'taskId' | 'by' | 'at'>,
): { task: TaskRecord; context: TaskCompletedHookContext } {
  const task = requireTask(state, taskId);
  return {
    task,
    context: {
      teamId: state.teamId,
      taskId,
      taskTitle: task.title,
      completedBy: by,
      memberName: state.members.get(by)?.name ?? by,
      duration: task.startedAt ? Math.max(0, at - task.startedAt.getTime()) : 0,
      dependentTaskIds: viewTask(state, task).blocks,
    },
  };
}
