import type { TaskNews } from '../core/events/row.ts';
import type { SharedTask } from '../core/task.ts';

/** Events of the task list, emitted once they are durable. */
export type TaskListEvents = { [Name in TaskNews]: [task: SharedTask] };
