import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import type { TeamState } from '../../core/state.ts';
import type { SharedTask } from '../../core/task.ts';
import { readNow } from '../json-file.ts';
import { isHeld } from '../lock.ts';
import { taskOf } from '../task-file.ts';
import { isWithheld, nativeTaskId } from './names.ts';
import type { MirrorParts } from './parts.ts';

/**
 * Tasks that nobody is given because their native files cannot be written: a claim that does not stand there is none. They are marked in
 * the journal, so that the change of the mark wakes those who wait for work, and the next daemon knows of them.
 */
export interface Withheld {
  readonly ids: ReadonlySet<string>;
  /** Takes a claim back that could not be written, and tells people why. */
  withhold(task: SharedTask, native: string, error: unknown): Promise<void>;
  /** Takes up what an earlier daemon withheld. */
  learn(state: TeamState): void;
  /** Gives free what can be written again. */
  look(): Promise<void>;
}

/** Begins with none. */
export function withholdTasks(parts: MirrorParts): Withheld {
  const { ledger, teamId, paths } = parts;
  const ids = new Set<string>();
  /** Claims that are being taken back: until that is on record, the journal shows them as held. */
  const underWay = new Set<string>();
  const mark = (taskId: string, native: string, unwritable: boolean) =>
    ({
      type: 'task.update',
      by: SYSTEM,
      taskId,
      metadata: { native: { id: native, ...(unwritable && { unwritable }) } },
    }) as const;
  const isFree = (native: string): boolean => {
    const path = paths.task(native);
    const { kind } = taskOf(readNow(path), native);
    return (kind === 'read' || kind === 'absent') && !isHeld(path);
  };

  return {
    ids,
    async withhold({ id: taskId, epoch }, native, error) {
      // Before it is released: whoever hears of that must not take it again.
      ids.add(taskId);
      underWay.add(taskId);
      parts.report(`task ${taskId} is given to nobody for now: ${error instanceof Error ? error.message : 'unknown'}`);
      const reason = 'its native file cannot be written';
      const release = { type: 'task.release', by: SYSTEM, taskId, epoch, reason } as const;
      try {
        await ledger.execute(teamId, [release, mark(taskId, native, true)], () => undefined);
      } catch (refusal) {
        // Somebody moved it on meanwhile: then it is not held by this claim any more.
        if (!(refusal instanceof TeamError)) throw refusal;
        ids.delete(taskId);
      } finally {
        underWay.delete(taskId);
      }
    },
    learn({ tasks }) {
      for (const task of tasks.values()) if (isWithheld(task)) ids.add(task.id);
    },
    async look() {
      for (const taskId of ids) {
        if (underWay.has(taskId)) continue;
        const found = await ledger.view(teamId, ({ tasks }) => tasks.get(taskId));
        const native = nativeTaskId(found);
        if (native !== undefined && found?.status === 'pending' && !isFree(native)) continue;
        ids.delete(taskId);
        if (native === undefined || !isWithheld(found) || found?.status === 'deleted') continue;
        await ledger.execute(teamId, mark(taskId, native, false), () => undefined);
      }
    },
  };
}
