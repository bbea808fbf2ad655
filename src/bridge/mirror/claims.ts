import { TeamError } from '../../core/errors.ts';
import type { TeamState } from '../../core/state.ts';
import type { SharedTask } from '../../core/task.ts';
import type { NativeTask } from '../format.ts';
import { changeTaskFile } from '../task-file.ts';
import { nativeName } from './names.ts';
import type { MirrorParts } from './parts.ts';
import { fileOf, formOfFile, shownOfClaim } from './task-form.ts';
import type { Links, TaskForm } from './task-form.ts';
import { handOver } from './task-steps.ts';
import type { Withheld } from './withheld.ts';

/** What both sides last agreed on, by native id, and the revision of ours that the file shows. */
export type Agreed = Map<string, { form: TaskForm; revision: number }>;

/** What the mirror of tasks knows. */
interface Known {
  readonly links: Links;
  readonly agreed: Agreed;
  /** Under which names natives know our members, where that is another. */
  readonly names: ReadonlyMap<string, string>;
  /** Claims that wait for their confirmation. */
  readonly unconfirmed: Set<string>;
  /** The native ids of those that were written. */
  readonly confirmed: Set<string>;
  readonly withheld: Withheld;
}

/**
 * Writes claims into the native files, each under its lock; false when somebody there was first, which the journal then says. All that
 * is needed comes with the task: a look at the ledger would wait for the commits of all other claims.
 */
export function confirmClaims(parts: MirrorParts, { links, agreed, names, unconfirmed, confirmed, withheld }: Known) {
  const { ledger, teamId, paths, stream, wrote, naming } = parts;
  return async (task: SharedTask, memberId: string): Promise<boolean> => {
    if (task.assigneeId !== memberId || task.status !== 'in_progress') return false;
    const native = links.toNative.get(task.id);
    // Not shown yet: nobody there can have taken it.
    if (native === undefined) return true;
    unconfirmed.add(task.id);
    try {
      const mine = names.get(memberId) ?? nativeName(memberId);
      const shown = shownOfClaim(task, mine, links, stream);
      const write =
        (gone?: string) =>
        (before?: NativeTask): { answer: NativeTask | undefined; write?: NativeTask } => {
          if (!before) return { answer: undefined };
          const found = formOfFile(before);
          const owner = found.owner === gone ? undefined : found.owner;
          const isLeft = gone !== undefined && owner === undefined && found.status === 'in_progress';
          const isFree = found.status === 'pending' || isLeft;
          const isMine = owner === mine && found.status === 'in_progress';
          if (!isMine && !(isFree && (owner === undefined || owner === mine))) return { answer: before };
          const next = { ...fileOf(shown, before), id: native } as NativeTask;
          agreed.set(native, { form: formOfFile(next), revision: task.revision });
          confirmed.add(native);
          return { answer: undefined, write: next };
        };
      let winner = await changeTaskFile(paths, native, write(), { wrote, ...parts.times.files });
      // One that has left holds nothing, whatever the file still says.
      const owner = winner?.owner;
      if (owner !== undefined && (await ledger.view(teamId, (state) => hasLeft(state, naming.idOf(state, owner))))) {
        winner = await changeTaskFile(paths, native, write(owner), { wrote, ...parts.times.files });
      }
      if (winner === undefined) return true;
      // In one step: in between nobody else may take it here.
      const lost = formOfFile(winner);
      const commands = await ledger.view(teamId, (state) => handOver(state, task, lost, naming));
      try {
        await ledger.execute(teamId, commands, () => undefined);
      } catch (error) {
        // Somebody moved the task on, so this claim holds nothing that could be handed over. The next pass compares both sides.
        if (error instanceof TeamError && error.code === 'stale_epoch') return false;
        throw error;
      }
      agreed.set(native, { form: formOfFile(winner), revision: 0 });
      return false;
    } catch (error) {
      // A list that is gone has nobody in it who could take the task.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
      // What cannot stand in the file is not held here either: the answer, the journal and the file say the same.
      await withheld.withhold(task, error);
      throw error;
    } finally {
      unconfirmed.delete(task.id);
      parts.again();
    }
  };
}

function hasLeft(state: TeamState, memberId: string | undefined): boolean {
  return state.members.get(memberId ?? '')?.status === 'stopped';
}
