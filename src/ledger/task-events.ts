import type { TeamEvent } from '../core/event.ts';
import type { SharedTask } from '../core/task.ts';

type TaskEventType = Extract<TeamEvent['type'], `task:${string}`>;

/** Events of the task list, emitted once they are durable. */
export interface TaskListEvents {
  'task:created': [task: SharedTask];
  'task:claimed': [task: SharedTask];
  'task:updated': [task: SharedTask];
  'task:completed': [task: SharedTask];
  'task:failed': [task: SharedTask];
  'task:released': [task: SharedTask];
  'task:unblocked': [task: SharedTask];
}

/** The name under which the list emits a task event of the journal. */
const TOLD: Readonly<Record<TaskEventType, keyof TaskListEvents>> = {
  'task:created': 'task:created',
  'task:claimed': 'task:claimed',
  'task:updated': 'task:updated',
  'task:assigned': 'task:updated',
  'task:rejected': 'task:updated',
  'task:reopened': 'task:updated',
  'task:deleted': 'task:updated',
  'task:dependencies-added': 'task:updated',
  'task:dependencies-removed': 'task:updated',
  'task:completed': 'task:completed',
  'task:failed': 'task:failed',
  'task:released': 'task:released',
  'task:unblocked': 'task:unblocked',
};

/** The same for any event; undefined if it is not about a task. */
export function toldAs(type: TeamEvent['type']): keyof TaskListEvents | undefined {
  return Object.hasOwn(TOLD, type) ? TOLD[type as TaskEventType] : undefined;
}
