import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import type { TaskRecord, TeamState } from '../../core/state.ts';
import type { SharedTask } from '../../core/task.ts';
import { quote } from '../../core/text.ts';
import { readNow } from '../json-file.ts';
import { isHeld } from '../lock.ts';
import { taskOf } from '../task-file.ts';
import { fileMark, isWithheld, nativeTaskId, strangerOf } from './names.ts';
import type { MirrorParts } from './parts.ts';

/**
 * Tasks that nobody is given: those whose native files cannot be written, since a claim that does not stand there is none, and those that
 * were set aside for somebody who has not come yet. They are marked in the journal, so that the change of the mark wakes those who wait
 * for work, and the next daemon knows of them.
 */
export interface Withheld {
  readonly ids: ReadonlySet<string>;
  /** Takes a claim back that could not be written, and tells people why. */
  withhold(task: SharedTask, native: string, error: unknown): Promise<void>;
  /** Takes up what an earlier daemon withheld. */
  learn(state: TeamState): void;
  /** Looks whether a task to which something happened is set aside now, or was. */
  note(state: TeamState, taskId: string): void;
  /** Gives free what can be written again. */
  look(): Promise<void>;
}

/** Begins with none. */
export function withholdTasks(parts: MirrorParts): Withheld {
  const { ledger, teamId, paths } = parts;
  const ids = new Set<string>();
  /** Claims that are being taken back: until that is on record, the journal shows them as held. */
  const underWay = new Set<string>();
  const mark = (task: Pick<TaskRecord, 'id' | 'metadata'>, native: string, unwritable: boolean) =>
    ({
      type: 'task.update',
      by: SYSTEM,
      taskId: task.id,
      metadata: fileMark(task, { id: native, unwritable: unwritable || undefined }),
    }) as const;
  const note = (state: TeamState, taskId: string): void => {
    const task = state.tasks.get(taskId);
    const stranger = strangerOf(state, task, parts.naming);
    if (!stranger && !isWithheld(task)) {
      if (!underWay.has(taskId)) ids.delete(taskId);
      return;
    }
    if (stranger && !ids.has(taskId)) {
      parts.report(
        `task ${taskId} is given to nobody for now: it is for ${quote(stranger.owner)}, who is not here yet`,
      );
    }
    ids.add(taskId);
  };
  const isFree = (native: string): boolean => {
    const path = paths.task(native);
    const { kind } = taskOf(readNow(path), native);
    return (kind === 'read' || kind === 'absent') && !isHeld(path);
  };

  return {
    ids,
    note,
    async withhold(task, native, error) {
      const { id: taskId, epoch } = task;
      // Before it is released: whoever hears of that must not take it again.
      ids.add(taskId);
      underWay.add(taskId);
      parts.report(`task ${taskId} is given to nobody for now: ${error instanceof Error ? error.message : 'unknown'}`);
      const reason = 'its native file cannot be written';
      const release = { type: 'task.release', by: SYSTEM, taskId, epoch, reason } as const;
      try {
        await ledger.execute(teamId, [release, mark(task, native, true)], () => undefined);
      } catch (refusal) {
        // Somebody moved it on meanwhile: then it is not held by this claim any more.
        if (!(refusal instanceof TeamError)) throw refusal;
        ids.delete(taskId);
      } finally {
        underWay.delete(taskId);
      }
    },
    learn(state) {
      for (const taskId of state.tasks.keys()) note(state, taskId);
    },
    async look() {
      for (const taskId of ids) {
        if (underWay.has(taskId)) continue;
        const { found, isSetAside } = await ledger.view(teamId, (state) => {
          const task = state.tasks.get(taskId);
          return { found: task, isSetAside: strangerOf(state, task, parts.naming) !== undefined };
        });
        const native = nativeTaskId(found);
        if (native !== undefined && found?.status === 'pending' && isWithheld(found) && !isFree(native)) continue;
        if (!isSetAside) ids.delete(taskId);
        if (native === undefined || !found || !isWithheld(found) || found.status === 'deleted') continue;
        await ledger.execute(teamId, mark(found, native, false), () => undefined);
      }
    },
  };
}
