import type { TeamState } from '../../../core/state.ts';
import { nativeTaskId } from '../marks.ts';
import type { Naming } from '../names.ts';
import type { Links, TaskForm } from './form.ts';

/** What the mirror of tasks remembers: which file is which task, and what both sides agreed on. */
export interface TaskBook extends Links {
  /** The last agreed form by native id, and the revision of our task that the file shows. */
  readonly agreed: Map<string, { form: TaskForm; revision: number }>;
  /** Claims that wait for confirmation, by our id: until then the native side wins. */
  readonly unconfirmed: Set<string>;
  /** Native ids of claims confirmed after the snapshot, which still shows the earlier state. */
  readonly confirmed: Set<string>;
  /** The native names of our members, so that a claim need not wait for the ledger. */
  readonly names: Map<string, string>;
  /** Records which file is which task. */
  link(native: string, taskId: string): void;
  /** Learns from the journal. Forgets tasks that were deleted long ago: a file under such a number is another task. */
  learn(state: TeamState): void;
}

/** Starts empty. */
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
