import { SYSTEM, USER } from '../core/actor.ts';
import type { Actor } from '../core/actor.ts';
import { wasDone } from '../core/decide.ts';
import { TeamError } from '../core/errors.ts';
import { requireFresh } from '../core/rules/guard.ts';
import type { TeamState } from '../core/state.ts';
import type { SharedTask, SharedTaskStatus, UpdateTaskInput } from '../core/task.ts';
import { requireTask, viewTask } from '../core/view.ts';
import type { NewCommand } from './ledger.ts';

/** An update as its caller asked for it. */
export interface Update {
  readonly taskId: string;
  readonly changes: UpdateTaskInput;
  readonly by: Actor;
  readonly commandId: string | undefined;
  readonly print: string;
  readonly epoch: number | undefined;
  readonly revision: number | undefined;
}

/** A command about one task. */
type Step = Exclude<Extract<NewCommand, { readonly type: `task.${string}` }>, { readonly type: 'task.create' }>;

/** The task before an update, and the steps of the update. No steps if it was done before under the same id. */
export function planUpdate(state: TeamState, update: Update): { before: SharedTask; steps: Step[] } {
  const { by, changes } = update;
  const task = requireTask(state, update.taskId, { deleted: true });
  const before = viewTask(state, task);
  if (wasDone(state, update, update.print)) return { before, steps: [] };
  requireFresh(task, update);
  const takesItself = (memberId: string): boolean => state.members.get(memberId)?.agent !== undefined;
  return { before, steps: stepsTo(before, changes, by, takesItself) };
}

/**
 * The steps that bring a task to what the update says, ordered so that each is possible. A member for which
 * `takesItself` is true has an agent, and claims reserved tasks itself. It does not become the holder here, because it
 * does not know yet.
 */
function stepsTo(
  before: SharedTask,
  input: UpdateTaskInput,
  by: Actor,
  takesItself: (memberId: string) => boolean,
): Step[] {
  const { status, assigneeId, addDependencies = [], addDependents = [], ...changes } = input;
  const taskId = before.id;
  // Dependencies can only change while a task is pending, so they come first.
  const steps: Step[] = addDependents.map((dependent) => ({
    type: 'task.addDependencies',
    by,
    taskId: dependent,
    dependencies: [taskId],
  }));
  if (addDependencies.length > 0) {
    steps.push({ type: 'task.addDependencies', by, taskId, dependencies: addDependencies });
  }
  if (Object.values(changes).some((value) => value !== undefined)) {
    steps.push({ type: 'task.update', by, taskId, ...changes });
  }
  const claims = status === 'in_progress' && assigneeId === by;
  if (assigneeId !== undefined && !claims) steps.push({ type: 'task.assign', by, taskId, assigneeId });
  if (status === 'in_progress' && typeof assigneeId === 'string' && !claims) {
    const isHis = before.status === status && before.assigneeId === assigneeId;
    if (isHis || takesItself(assigneeId)) return steps;
    return [...steps, { type: 'task.claim', by, taskId, memberId: assigneeId }];
  }
  const last = statusStep(before, status, by);
  if (!last) return steps;
  if (last.type === 'task.reopen') return [last, ...steps];
  if (last.type !== 'task.release' || assigneeId === undefined) return [...steps, last];
  // Assigning the task to another member also takes it from its holder.
  return assigneeId === before.assigneeId ? [last, ...steps] : steps;
}

/** The step that a new status stands for. */
function statusStep(before: SharedTask, status: SharedTaskStatus | undefined, by: Actor): Step | undefined {
  const taskId = before.id;
  if (status === 'in_progress') {
    const isDone = before.status === status && (before.assigneeId === by || by === USER || by === SYSTEM);
    return isDone ? undefined : { type: 'task.claim', by, taskId };
  }
  if (status === undefined || status === before.status) return undefined;
  switch (status) {
    case 'completed':
      return { type: 'task.complete', by, taskId };
    case 'failed':
      return { type: 'task.fail', by, taskId, reason: `marked as failed by ${by}` };
    case 'deleted':
      return { type: 'task.delete', by, taskId };
    case 'pending':
      if (before.status === 'blocked') return undefined;
      return { type: before.status === 'in_progress' ? 'task.release' : 'task.reopen', by, taskId };
    default:
      throw new TeamError('invalid', `A task is blocked by its dependencies: add one to task ${taskId} instead`);
  }
}
