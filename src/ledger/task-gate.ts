import type { Actor } from '../core/actor.ts';
import type { HookResult, TaskCompletedHookContext, TaskCreatedHookContext } from '../core/hook.ts';
import type { TaskRecord, TeamState } from '../core/state.ts';
import { requireTask, viewTask } from '../core/view.ts';

/** Judges a completion before it counts, and a new task after it was made. */
export interface TaskGate {
  executeTaskCompletedHook(context: TaskCompletedHookContext): Promise<HookResult>;
  executeTaskCreatedHook?(context: TaskCreatedHookContext): Promise<HookResult>;
}

/** What a gate is told of a completion, and the task as it is judged. */
export function completionContext(
  state: TeamState,
  taskId: string,
  by: Actor,
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
      duration: task.startedAt ? Math.max(0, Date.now() - task.startedAt.getTime()) : 0,
      dependentTaskIds: viewTask(state, task).blocks,
    },
  };
}
