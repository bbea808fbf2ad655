import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import type { TeamState } from '../../core/state.ts';
import type { NativeTask } from '../format.ts';
import { createTaskFile } from '../task-file.ts';
import type { Agreed } from './claims.ts';
import type { MirrorParts } from './parts.ts';
import { ADOPTED, fileOf, formOfFile, shownOf, stampOf } from './task-form.ts';
import type { Links } from './task-form.ts';
import { creations } from './task-steps.ts';
import type { Step } from './task-steps.ts';

/** So many tasks are taken over or compared at a time. */
export const TOGETHER = 64;

/** Tasks that one side has and the other not yet. */
export interface NewTasks {
  /** Notes which file is which task. */
  readonly link: (native: string, taskId: string) => void;
  /** Drops the links of tasks that were deleted so long ago that nobody brings them back: a file under such a number is another one. */
  readonly unlinkForgotten: (state: TeamState) => void;
  /** Takes over tasks that came into being on the native side. */
  readonly adopt: (files: readonly NativeTask[]) => Promise<void>;
  /** Shows a task of ours to the native side. */
  readonly offer: (taskId: string) => Promise<void>;
}

/** Begins with the links that are known. */
export function takeUpTasks(
  parts: MirrorParts,
  { links, agreed, execute }: { links: Links; agreed: Agreed; execute: (commands: Step) => Promise<void> },
): NewTasks {
  const { ledger, teamId, paths, stream, naming } = parts;
  /** The native ids of those that are being made: a step that takes long is not waited for, and the next pass finds the same files. */
  const underWay = new Set<string>();
  const link = (native: string, taskId: string): void => {
    links.toTask.set(native, taskId);
    links.toNative.set(taskId, native);
  };

  const unlinkForgotten = (state: TeamState): void => {
    for (const [native, taskId] of links.toTask) {
      if (state.tasks.has(taskId)) continue;
      links.toTask.delete(native);
      links.toNative.delete(taskId);
      agreed.delete(native);
    }
  };

  /** Tasks that came into being on the native side. Their files stay as they are until there is something to say in them. */
  const adopt = async (files: readonly NativeTask[]): Promise<void> => {
    const { own, others } = await ledger.view(teamId, (state) => {
      const ownId = (file: NativeTask): string | undefined => {
        const stamp = stampOf(file, stream);
        return stamp && state.tasks.has(stamp.id) && !links.toNative.has(stamp.id) ? stamp.id : undefined;
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
    for (const { native, taskId } of own) if (!links.toNative.has(taskId)) await note(native, taskId);
    for (let at = 0; at < others.length; at += TOGETHER) {
      const some = others.slice(at, at + TOGETHER);
      try {
        await create(some);
      } catch (error) {
        if (!(error instanceof TeamError)) throw error;
        // One of them is refused, or somebody made another task meanwhile.
        for (const file of some) await parts.step(`task ${file.id}`, () => create([file]));
      }
    }
  };

  const create = async (wanted: readonly NativeTask[]): Promise<void> => {
    const files = wanted.filter(({ id }) => !links.toTask.has(id) && !underWay.has(id));
    for (const { id } of files) underWay.add(id);
    try {
      const commands = await ledger.view(teamId, (state) =>
        creations(state, files, { by: naming.author(state), links }),
      );
      await execute(commands);
      for (const [i, file] of files.entries()) {
        link(file.id, commands[i]?.taskId ?? '');
        const form = { ...formOfFile(file), status: 'pending', owner: undefined } as const;
        agreed.set(file.id, { form, revision: ADOPTED });
      }
    } finally {
      for (const { id } of files) underWay.delete(id);
    }
  };

  const note = async (native: string, taskId: string): Promise<void> => {
    link(native, taskId);
    await execute([{ type: 'task.update', by: SYSTEM, taskId, metadata: { native: { id: native } } }]);
  };

  /** A task of ours that the native side does not have yet. */
  const offer = async (taskId: string): Promise<void> => {
    const file = await ledger.view(teamId, (state) => {
      const task = state.tasks.get(taskId);
      return task && task.status !== 'deleted' ? fileOf(shownOf(state, task, links, stream)) : undefined;
    });
    if (!file || links.toNative.has(taskId)) return;
    await note(await createTaskFile(paths, file, { wanted: taskId, ...parts.times.files }), taskId);
  };

  return { link, unlinkForgotten, adopt, offer };
}
