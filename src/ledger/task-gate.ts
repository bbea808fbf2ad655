import { SYSTEM, USER } from '../core/actor.ts';
import type { CommandOf } from '../core/command.ts';
import { decide } from '../core/decide.ts';
import { TeamError } from '../core/errors.ts';
import { feedbackOf } from '../core/hook.ts';
import type { HookResult, TaskCompletedHookContext, TaskCreatedHookContext } from '../core/hook.ts';
import type { TaskRecord, TeamState } from '../core/state.ts';
import { requireTask, viewTask } from '../core/view.ts';
import type { NewCommand } from './ledger.ts';

/** Judges a completion before it counts, and a new task after it was made. */
export interface TaskGate {
  executeTaskCompletedHook(context: TaskCompletedHookContext): Promise<HookResult>;
  executeTaskCreatedHook?(context: TaskCreatedHookContext): Promise<HookResult>;
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
