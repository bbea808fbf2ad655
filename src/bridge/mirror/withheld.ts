import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import type { TaskRecord } from '../../core/state.ts';
import type { SharedTask } from '../../core/task.ts';
import { readNow } from '../json-file.ts';
import { isHeld } from '../lock.ts';
import { taskOf } from '../task-file.ts';
import { isClosed } from './farewell.ts';
import { nativeTaskId, setAsideFor, strangerOf } from './names.ts';
import type { MirrorParts } from './parts.ts';

/**
 * Tasks that nobody is given: those whose native files cannot be written, since a claim that does not stand there is none, and those that
 * were set aside for somebody who has not come yet. Their records say so: nobody takes them, and the next daemon knows of them.
 */
export interface Withheld {
  /** Takes a claim back that could not be written, and tells people why. */
  withhold(task: SharedTask, error: unknown): Promise<void>;
  /** Gives free what can be written again, and what is for somebody who has come. */
  look(): Promise<void>;
  /** Gives all of it free: the native team has no more say. */
  end(): Promise<void>;
}

/** Begins with what an earlier daemon withheld. */
export function withholdTasks(parts: MirrorParts): Withheld {
  const { ledger, teamId, paths } = parts;
  /** Of those set aside people are told once. */
  const told = new Set<string>();
  const isWritable = (native: string): boolean => {
    const path = paths.task(native);
    const { kind } = taskOf(readNow(path), native);
    return (kind === 'read' || kind === 'absent') && !isHeld(path);
  };
  const report = (taskId: string, why: string): void => {
    parts.report(`task ${taskId} is given to nobody for now: ${why}`);
  };
  const giveFree = async (ids: readonly string[]): Promise<void> => {
    const commands = ids.map((taskId) => ({ type: 'task.update', by: SYSTEM, taskId, withheld: null }) as const);
    if (commands.length > 0) await ledger.execute(teamId, commands, () => undefined);
  };

  return {
    async withhold({ id: taskId, epoch }, error) {
      report(taskId, error instanceof Error ? error.message : 'unknown');
      const withheld = 'its native file cannot be written';
      // In one step: whoever hears that it was released must not take it again.
      const release = { type: 'task.release', by: SYSTEM, taskId, epoch, reason: withheld } as const;
      const mark = { type: 'task.update', by: SYSTEM, taskId, withheld } as const;
      try {
        await ledger.execute(teamId, [release, mark], () => undefined);
      } catch (refusal) {
        // Somebody moved it on meanwhile: then it is not held by this claim any more.
        if (!(refusal instanceof TeamError)) throw refusal;
      }
    },
    async look() {
      const { free, aside } = await ledger.view(teamId, (state) => {
        const withheld = [...state.tasks.values()].filter((task) => task.withheld !== undefined);
        const isAwaited = (task: TaskRecord): boolean => strangerOf(state, task, parts.naming) !== undefined;
        const isFree = (task: TaskRecord): boolean =>
          setAsideFor(task) ? !isAwaited(task) : isWritable(nativeTaskId(task) ?? '');
        return { free: withheld.filter(isFree).map(({ id }) => id), aside: withheld.filter(isAwaited) };
      });
      for (const { id, withheld = '' } of aside) {
        if (!told.has(id)) report(id, withheld);
        told.add(id);
      }
      for (const taskId of free) told.delete(taskId);
      await giveFree(free);
    },
    async end() {
      await giveFree(
        await ledger.view(teamId, (state) =>
          isClosed(state) ? [] : [...state.tasks.values()].flatMap((task) => (task.withheld ? [task.id] : [])),
        ),
      );
    },
  };
}
