import type { TeamState } from '../core/state.ts';
import type { SharedTask, SharedTaskPriority, SharedTaskStatus } from '../core/task.ts';
import { viewTask } from '../core/view.ts';

/** Which tasks to list. Deleted ones are listed only if `status` names them. */
export interface TaskFilter {
  readonly status?: SharedTaskStatus | readonly SharedTaskStatus[];
  readonly assigneeId?: string;
  readonly priority?: SharedTaskPriority;
  /** Only tasks with a greater id. */
  readonly after?: string;
  /** At most this many, oldest first. */
  readonly limit?: number;
}

/** The tasks that match, in the order of their ids, generated lazily. */
export function* filterTasks(state: TeamState, filter: TaskFilter): Generator<SharedTask> {
  const { status, assigneeId, priority, after = '0', limit = Infinity } = filter;
  const statuses = status === undefined ? undefined : new Set([status].flat());
  let found = 0;
  for (const task of state.tasks.values()) {
    if (found >= limit) break;
    if (Number(task.id) <= Number(after)) continue;
    if (assigneeId !== undefined && task.assigneeId !== assigneeId) continue;
    if (priority !== undefined && task.priority !== priority) continue;
    if (!statuses && task.status === 'deleted') continue;
    const view = viewTask(state, task);
    if (statuses && !statuses.has(view.status)) continue;
    found++;
    yield view;
  }
}
