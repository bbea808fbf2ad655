import { SYSTEM } from '../../../core/actor.ts';
import { TeamError } from '../../../core/errors.ts';
import type { NativeTask } from '../../format.ts';
import { createTaskFile } from '../../task-file.ts';
import type { Shared } from '../shared.ts';
import type { TaskBook } from './book.ts';
import { creations } from './commands.ts';
import { ADOPTED, fileOf, formOfFile, shownOf, stampOf } from './form.ts';

/** How many tasks are adopted or compared at a time. */
export const TOGETHER = 64;

/** Tasks that only one side has so far. */
export interface NewTasks {
  /** Adopts tasks that were created on the native side. */
  readonly adopt: (files: readonly NativeTask[]) => Promise<void>;
  /** Adds our task to the native side. */
  readonly offer: (taskId: string) => Promise<void>;
}

/** Starts with none in progress. */
export function takeUpTasks(shared: Shared, book: TaskBook): NewTasks {
  const { paths, stream, naming, view, execute } = shared;
  /** Native ids of tasks being created: a pass does not wait for a slow step, and the next one finds the same files. */
  const underWay = new Set<string>();

  /** Adopts native tasks. Their files stay unchanged until there is something to write. */
  const adopt = async (files: readonly NativeTask[]): Promise<void> => {
    const { own, others } = await view((state) => {
      const ownId = (file: NativeTask): string | undefined => {
        const stamp = stampOf(file, stream);
        return stamp && state.tasks.has(stamp.id) && !book.toNative.has(stamp.id) ? stamp.id : undefined;
      };
      return {
        own: files.flatMap((file) => {
          const taskId = ownId(file);
          return taskId === undefined ? [] : [{ native: file.id, taskId }];
        }),
        others: files.filter((file) => ownId(file) === undefined),
      };
    });
    // We wrote these files, and the daemon ended before it recorded that.
    for (const { native, taskId } of own) if (!book.toNative.has(taskId)) await note(native, taskId);
    const done = new Set(files.filter(({ status }) => status === 'completed').map(({ id }) => id));
    for (let at = 0; at < others.length; at += TOGETHER) {
      const some = others.slice(at, at + TOGETHER);
      try {
        await create(some, done);
      } catch (error) {
        if (!(error instanceof TeamError)) throw error;
        // One of them is refused, or another task was created meanwhile.
        for (const file of some) await shared.step(`task ${file.id}`, () => create([file], done));
      }
    }
  };

  const create = async (wanted: readonly NativeTask[], done: ReadonlySet<string>): Promise<void> => {
    const files = wanted.filter(({ id }) => !book.toTask.has(id) && !underWay.has(id));
    if (files.length === 0) return;
    for (const { id } of files) underWay.add(id);
    try {
      const commands = await view((state) => {
        const isDone = (native: string): boolean =>
          done.has(native) || state.tasks.get(book.toTask.get(native) ?? '')?.status === 'completed';
        return creations(state, files, { by: naming.author(state), links: book, isDone });
      });
      await execute(commands);
      for (const [i, file] of files.entries()) {
        book.link(file.id, commands[i]?.taskId ?? '');
        const form = { ...formOfFile(file), status: 'pending', owner: undefined } as const;
        book.agreed.set(file.id, { form, revision: ADOPTED });
      }
    } finally {
      for (const { id } of files) underWay.delete(id);
    }
  };

  const note = async (native: string, taskId: string): Promise<void> => {
    book.link(native, taskId);
    await execute([{ type: 'task.update', by: SYSTEM, taskId, metadata: { native: { id: native } } }]);
  };

  /** Writes the native file of our task. */
  const offer = async (taskId: string): Promise<void> => {
    const file = await view((state) => {
      const task = state.tasks.get(taskId);
      return task && task.status !== 'deleted' ? fileOf(shownOf(state, task, book, stream)) : undefined;
    });
    if (!file || book.toNative.has(taskId)) return;
    await note(await createTaskFile(paths, file, { wanted: taskId, ...shared.times.files }), taskId);
  };

  return { adopt, offer };
}
