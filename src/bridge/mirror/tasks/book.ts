import type { TeamState } from '../../../core/state.ts';
import { nativeTaskId } from '../marks.ts';
import type { Naming } from '../names.ts';
import type { Links, TaskForm } from './form.ts';

/** What the mirror of tasks keeps in mind: which file is which task, and what both sides agreed on. */
export interface TaskBook extends Links {
  /** What both sides last agreed on, by native id, and the revision of ours that the file shows. */
  readonly agreed: Map<string, { form: TaskForm; revision: number }>;
  /** Claims that wait for their confirmation, by our id: until then the native side has the better right. */
  readonly unconfirmed: Set<string>;
  /** The native ids of claims that were confirmed since the picture was taken, which shows them as they were before. */
  readonly confirmed: Set<string>;
  /** The native names of our members: a claim must not wait for a look at the ledger. */
  readonly names: Map<string, string>;
  /** Notes which file is which task. */
  link(native: string, taskId: string): void;
  /** Learns from the journal. Tasks that were deleted so long ago that nobody brings them back are forgotten: a file under such a number is another one. */
  learn(state: TeamState): void;
}

/** Begins with nothing in mind. */
export function openBook(naming: Naming): TaskBook {
  const toTask = new Map<string, string>();
  const toNative = new Map<string, string>();
  const agreed: TaskBook['agreed'] = new Map();
  const names = new Map<string, string>();
  const link = (native: string, taskId: string): void => {
    toTask.set(native, taskId);
    toNative.set(taskId, native);
  };
  return {
    naming,
    toTask,
    toNative,
    agreed,
    unconfirmed: new Set(),
    confirmed: new Set(),
    names,
    link,
    learn(state) {
      if (toTask.size === 0) {
        for (const task of state.tasks.values()) {
          const native = nativeTaskId(task);
          if (native !== undefined && !toTask.has(native)) link(native, task.id);
        }
      }
      for (const [native, taskId] of toTask) {
        if (state.tasks.has(taskId)) continue;
        toTask.delete(native);
        toNative.delete(taskId);
        agreed.delete(native);
      }
      for (const { id } of state.members.values()) names.set(id, naming.nameOf(state, id));
    },
  };
}
