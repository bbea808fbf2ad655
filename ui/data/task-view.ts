import type { SharedTask } from '../../src/core/task.ts';

/** Where a task is in its life, as people see it. `gate`: its work was sent back too often and waits for a person. */
export type TaskPhase = 'ready' | 'blocked' | 'working' | 'gate' | 'done' | 'failed';

export const TASK_PHASES: readonly TaskPhase[] = ['ready', 'blocked', 'working', 'gate', 'failed', 'done'];

/** A task with what follows from the others. The same object for as long as nothing of it changes. */
export interface TaskView {
  readonly id: string;
  readonly task: SharedTask;
  readonly phase: TaskPhase;
}
