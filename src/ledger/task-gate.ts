import { SYSTEM, USER } from '../core/actor.ts';
import type { CommandOf } from '../core/command.ts';
import { decide } from '../core/decide.ts';
import { TeamError } from '../core/errors.ts';
import { feedbackOf } from '../core/hook.ts';
import type { HookResult, TaskCompletedHookContext, TaskCreatedHookContext } from '../core/hook.ts';
import type { TaskRecord, TeamState } from '../core/state.ts';
import type { SharedTask } from '../core/task.ts';
import { quote } from '../core/text.ts';
import { requireTask, viewTask } from '../core/view.ts';
import type { NewCommand } from './ledger.ts';

/** Judges a completion before it counts, and a new task before anybody can take it. */
export interface TaskGate {
  executeTaskCompletedHook(context: TaskCompletedHookContext): Promise<HookResult>;
  executeTaskCreatedHook?(context: TaskCreatedHookContext): Promise<HookResult>;
  /** Whether it has something to say about new tasks of a team; if it does not tell, it has. */
  judgesNewTasks?(teamId: string): Promise<boolean>;
}

/** Whether new tasks of a team are judged. */
export async function judgesNewTasks(gate: TaskGate, teamId: string): Promise<boolean> {
  if (!gate.executeTaskCreatedHook) return false;
  return (await gate.judgesNewTasks?.(teamId)) ?? true;
}

/**
 * Asks the gate about a new task, which nobody can take meanwhile; then it can be taken, or it is deleted and that is thrown, as
 * `gate_rejected`. Where the gate itself fails, it lets the task pass. With `ifUnable: 'leave'`, a gate that has to block and cannot
 * be asked leaves the task as it is.
 */
export async function judgeNewTask(
  gate: TaskGate,
  task: SharedTask,
  {
    execute,
    ifUnable = 'delete',
  }: { execute: (command: NewCommand) => Promise<SharedTask>; ifUnable?: 'delete' | 'leave' },
): Promise<SharedTask> {
  const { id: taskId, teamId, title: taskTitle, createdBy } = task;
  const pass = (): Promise<SharedTask> => execute({ type: 'task.update', by: SYSTEM, taskId, unjudged: false });
  const unwanted = `A hook does not want the task ${quote(taskTitle)}`;
  // Sent again after its answer was lost: what was decided then counts.
  if (task.status === 'deleted') throw new TeamError('gate_rejected', unwanted);
  if (!task.unjudged) return task;
  let verdict: HookResult | undefined;
  try {
    verdict = await gate.executeTaskCreatedHook?.({ teamId, taskId, taskTitle, createdBy });
  } catch (error) {
    await pass();
    throw error;
  }
  if (verdict?.exitCode !== 2) return pass();
  if (verdict.unable !== undefined && ifUnable === 'leave') return task;
  await execute({ type: 'task.delete', by: SYSTEM, taskId });
  throw new TeamError('gate_rejected', feedbackOf(verdict) || unwanted);
}

/** A completion that is to be judged. */
export type Completion = Omit<CommandOf<'task.complete'>, 'at'>;

/** What a verdict is about, and what must therefore still be so when it counts. */
export interface Judged {
  readonly epoch?: number;
  readonly revision?: number;
}

/** What judging needs of the team. */
interface Judging {
  now(): number;
  view<R>(pick: (state: TeamState) => R): Promise<R>;
  reject(rejection: NewCommand): Promise<void>;
}

/** Asks the gate, with nothing locked. A no is put on record and thrown, as `gate_rejected`. */
export async function judgeCompletion(gate: TaskGate, completion: Completion, team: Judging): Promise<Judged> {
  const judged = await team.view((state) => {
    // A completion that will be refused, or was done before, is no business of the gate.
    const at = team.now();
    const isNew = decide(state, { at, ...completion }).length > 0;
    return isNew ? completionContext(state, { ...completion, at }) : undefined;
  });
  if (!judged) return {};
  const verdict = await gate.executeTaskCompletedHook(judged.context);
  const { id: taskId, epoch, revision, status } = judged.task;
  if (verdict.exitCode !== 2) return { epoch, revision };
  const { unable } = verdict;
  const feedback = unable ?? (feedbackOf(verdict) || `The gate rejected task ${taskId}`);
  const about = {
    taskId,
    feedback,
    result: completion.result,
    gate: verdict.command,
    epoch,
    revision,
    ...(unable !== undefined && { unable: true }),
  };
  if (status === 'in_progress') await team.reject({ type: 'task.reject', by: SYSTEM, ...about });
  // A person who has it judged knows already.
  const asked = unable !== undefined && status === 'in_progress' && completion.by !== USER;
  throw new TeamError(
    'gate_rejected',
    asked ? `${feedback}\nA person was asked; there is nothing to change in the work` : feedback,
  );
}

/** What a gate is told of a completion, and the task as it is judged. */
function completionContext(
  state: TeamState,
  { taskId, by, at }: Completion & { at: number },
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
