import { openDependencies } from '../../../core/obstacles.ts';
import type { NativeTask } from '../../format.ts';
import { readNow } from '../../json-file.ts';
import { taskOf } from '../../task-file.ts';
import type { Shared } from '../shared.ts';
import type { TaskBook } from './book.ts';

/**
 * Whether a task was begun there after its blockers were completed there, and we do not know yet that they are. A
 * journal that is slow records these one after another. A claim that comes first would be refused, and the holder would
 * lose its work.
 */
export async function isAhead(
  { paths, view }: Pick<Shared, 'paths' | 'view'>,
  book: TaskBook,
  taskId: string,
  file: NativeTask,
): Promise<boolean> {
  if (file.status === 'pending') return false;
  const open = await view((state) => {
    const task = state.tasks.get(taskId);
    return task?.status === 'pending' ? openDependencies(state, task) : [];
  });
  return open.some((id) => {
    const native = book.toNative.get(id);
    const found = native === undefined ? undefined : taskOf(readNow(paths.task(native)), native);
    return found?.kind === 'read' && found.task.status === 'completed';
  });
}
