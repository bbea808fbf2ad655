import { filesMeet } from './file-patterns.ts';
import type { TaskRecord, TeamState } from './state.ts';

/**
 * The tasks in progress of other members that change files which a task changes, too, by number. `memberId` is who would
 * take it, by default the member that it is reserved for. `freed` are tasks that will no longer be in progress.
 */
export function filesInTheWay(
  { index, tasks }: TeamState,
  task: TaskRecord,
  {
    memberId = task.assigneeId,
    freed = [],
  }: { memberId?: string | undefined; freed?: readonly string[] | undefined } = {},
): string[] {
  const { files } = task;
  if (!files || index.filed.size === 0) return [];
  const found: string[] = [];
  for (const id of index.filed) {
    const held = tasks.get(id);
    if (!held?.files || held.assigneeId === memberId || id === task.id || freed.includes(id)) continue;
    if (filesMeet(files, held.files)) found.push(id);
  }
  return found.sort((a, b) => Number(a) - Number(b));
}
