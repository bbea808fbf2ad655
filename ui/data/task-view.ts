import type { SharedTask } from '../../src/core/task.ts';

/** Where a task is in its life, as people see it. `gate`: its work was sent back too often and waits for a person. */
export type TaskPhase = 'pending' | 'blocked' | 'in_progress' | 'gate' | 'completed' | 'failed';

export const TASK_PHASES: readonly TaskPhase[] = ['pending', 'blocked', 'in_progress', 'gate', 'failed', 'completed'];

/** A task with what follows from the others. The same object for as long as nothing of it changes. */
export interface TaskView {
  readonly id: string;
  readonly task: SharedTask;
  readonly phase: TaskPhase;
}

/** The ids that somebody typed: `#3, 4` and `3 4` are the same. Words that are none are kept, so that the daemon says which. */
export function taskIdsIn(text: string): string[] {
  return text.split(/[\s,]+/).flatMap((word) => (word === '' ? [] : [word.replace(/^#/, '')]));
}
