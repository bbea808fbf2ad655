import type { TaskPhase, TaskView } from '../../data/task-view.ts';
import { PRIORITIES } from '../../forms/priorities.ts';
import type { Priority } from '../../forms/priorities.ts';

/** Finished tasks: the latest first. Others in the order in which they are claimed: by priority, then age. */
export function sortColumn(phase: TaskPhase, tasks: readonly TaskView[]): readonly TaskView[] {
  if (phase === 'completed' || phase === 'failed') {
    return tasks.toSorted((a, b) => (b.task.completedAt?.getTime() ?? 0) - (a.task.completedAt?.getTime() ?? 0));
  }
  return tasks.toSorted(byUrgency);
}

function byUrgency(a: TaskView, b: TaskView): number {
  return rankOf(a) - rankOf(b) || Number(a.id) - Number(b.id);
}

function rankOf({ task }: TaskView): number {
  return PRIORITIES.indexOf(task.priority);
}

/**
 * The priority that puts a task at a place among others, or as near as possible: among tasks of the same priority, the
 * oldest always comes first.
 */
export function priorityAt(others: readonly TaskView[], view: TaskView, place: number): Priority {
  const placeWith = (priority: Priority): number => {
    const moved = { ...view, task: { ...view.task, priority } };
    return others.filter((other) => byUrgency(other, moved) < 0).length;
  };
  // If several do, the one that changes least.
  const cost = (priority: Priority): number =>
    Math.abs(placeWith(priority) - place) * PRIORITIES.length + Math.abs(PRIORITIES.indexOf(priority) - rankOf(view));
  return PRIORITIES.reduce((best, one) => (cost(one) < cost(best) ? one : best));
}

/** One step more or less urgent; undefined at the end of the scale. */
export function nextPriority(priority: Priority, step: number): Priority | undefined {
  return PRIORITIES[PRIORITIES.indexOf(priority) + step];
}
