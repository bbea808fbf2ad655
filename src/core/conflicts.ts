import type { TaskWork } from './work.ts';

/**
 * How often a work conflicted, with the conflict of this commit. The same commit counts once: if a daemon was killed
 * before it laid both sides into the folder, the holder hands in the same again, and never saw the conflict.
 */
export function countConflicts(work: TaskWork | undefined, commit: string): number {
  const { sentBack = 0, sentBackAs } = work ?? {};
  return sentBackAs === commit ? sentBack : sentBack + 1;
}
