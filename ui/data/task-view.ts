import type { SharedTask } from '../../src/core/task.ts';

/** The state of a task as people see it. `gate`: the gate rejected its work too often, and it waits for a person. */
export type TaskPhase = 'pending' | 'blocked' | 'in_progress' | 'gate' | 'completed' | 'failed';

export const TASK_PHASES: readonly TaskPhase[] = ['pending', 'blocked', 'in_progress', 'gate', 'failed', 'completed'];

/** A task with what is derived from other tasks. It stays the same object until something in it changes. */
export interface TaskView {
  readonly id: string;
  readonly task: SharedTask;
  readonly phase: TaskPhase;
}

/** The patterns of files in a typed text, one after the other with commas, or one per line. */
export function patternsIn(text: string): string[] {
  return text.split(/[,\n]+/).flatMap((word) => word.trim() || []);
}

/** The ids in a typed text: `#3, 4` and `3 4` are the same. Other words are kept, so the daemon can name them. */
export function taskIdsIn(text: string): string[] {
  return text.split(/[\s,]+/).flatMap((word) => (word === '' ? [] : [word.replace(/^#/, '')]));
}
