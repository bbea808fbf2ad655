import { SYSTEM } from '../../../core/actor.ts';
import { TeamError } from '../../../core/errors.ts';
import type { NativeTask } from '../../format.ts';
import { createTaskFile } from '../../task-file.ts';
import type { Shared } from '../shared.ts';
import type { TaskBook } from './book.ts';
import { creations } from './commands.ts';
import { ADOPTED, fileOf, formOfFile, shownOf, stampOf } from './form.ts';

/** So many tasks are taken over or compared at a time. */
export const TOGETHER = 64;

/** Tasks that one side has and the other not yet. */
export interface NewTasks {
  /** Takes over tasks that came into being on the native side. */
  readonly adopt: (files: readonly NativeTask[]) => Promise<void>;
  /** Shows a task of ours to the native side. */
  readonly offer: (taskId: string) => Promise<void>;
}

/** Begins with none under way. */
export function takeUpTasks(shared: Shared, book: TaskBook): NewTasks {
  const { paths, stream, naming, view, execute } = shared;
  /** The native ids of those that are being made: a step that takes long is not waited for, and the next pass finds the same files. */
  const underWay = new Set<string>();

  /** Tasks that came into being on the native side. Their files stay as they are until there is something to say in them. */
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
    // Written by us, and then we were ended before we noted it.
    for (const { native, taskId } of own) if (!book.toNative.has(taskId)) await note(native, taskId);
    for (let at = 0; at < others.length; at += TOGETHER) {
      const some = others.slice(at, at + TOGETHER);
      try {
        await create(some);
      } catch (error) {
        if (!(error instanceof TeamError)) throw error;
        // One of them is refused, or somebody made another task meanwhile.
        for (const file of some) await shared.step(`task ${file.id}`, () => create([file]));
      }
    }
  };

  const create = async (wanted: readonly NativeTask[]): Promise<void> => {
    const files = wanted.filter(({ id }) => !book.toTask.has(id) && !underWay.has(id));
    for (const { id } of files) underWay.add(id);
    try {
      const commands = await view((state) => creations(state, files, { by: naming.author(state), links: book }));
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

  /** A task of ours that the native side does not have yet. */
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
