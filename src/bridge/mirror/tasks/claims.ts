import { SYSTEM } from '../../../core/actor.ts';
import { TeamError } from '../../../core/errors.ts';
import type { TaskRecord, TeamState } from '../../../core/state.ts';
import type { SharedTask } from '../../../core/task.ts';
import { viewTask } from '../../../core/view.ts';
import type { NativeTask } from '../../format.ts';
import { readNow } from '../../json-file.ts';
import { isHeld } from '../../lock.ts';
import { changeTaskFile, taskOf } from '../../task-file.ts';
import { nativeTaskId, setAsideFor } from '../marks.ts';
import { nativeName, strangerOf } from '../names.ts';
import type { Naming } from '../names.ts';
import { isClosed } from '../presence/presence.ts';
import { pauseAfter } from '../rhythm.ts';
import type { Shared } from '../shared.ts';
import type { TaskBook } from './book.ts';
import { handOver } from './commands.ts';
import { fileOf, formOfFile, shownOfClaim, stampOf } from './form.ts';
import type { TaskForm } from './form.ts';

/** Claims in the native files. */
export interface Claims {
  /** Writes a claim. Returns false if the native side was first; the journal then says so. */
  confirm(task: SharedTask, memberId: string): Promise<boolean>;
  /** Whether natives were first, and the last daemon died before it could write the claim. The journal then says so. */
  yields(native: string, taskId: string, file: NativeTask): Promise<boolean>;
}

/** What claims need besides what all parts of a mirror share. */
export interface ClaimsOptions {
  readonly book: TaskBook;
  readonly withheld: Withheld;
  readonly compared: Promise<void>;
  readonly leftAt: number;
}

/**
 * Writes claims into the native files, each under its lock. The task itself carries all that is needed: reading the
 * ledger would wait for the commits of all other claims.
 */
export function confirmClaims(shared: Shared, { book, withheld, compared, leftAt }: ClaimsOptions): Claims {
  const { paths, stream, wrote, naming, view, execute } = shared;

  /** Writes a claim, or hands the task over to the natives, who were first. */
  const settle = async (native: string, task: SharedTask, memberId: string): Promise<boolean> => {
    const mine = book.names.get(memberId) ?? nativeName(memberId);
    const shown = shownOfClaim(task, mine, book, stream);
    const agreed = book.agreed.get(native)?.form;
    const write =
      (old?: TaskForm) =>
      (before?: NativeTask): { answer: NativeTask | undefined; write?: NativeTask } => {
        if (!before) return { answer: undefined };
        const found = formOfFile(before);
        const isFree = found.status === 'pending' && (found.owner === undefined || found.owner === mine);
        const isMine = found.status === 'in_progress' && found.owner === mine;
        if (!isFree && !isMine && !(old && sameHolder(old, found))) return { answer: before };
        const next = { ...fileOf(shown, before), id: native } as NativeTask;
        book.agreed.set(native, { form: formOfFile(next), revision: task.revision });
        book.confirmed.add(native);
        return { answer: undefined, write: next };
      };
    let winner = await changeTaskFile(paths, native, write(), { wrote, ...shared.times.files });
    const old = winner && formOfFile(winner);
    if (old && (await view((state) => isOld(state, old, agreed, naming)))) {
      winner = await changeTaskFile(paths, native, write(old), { wrote, ...shared.times.files });
    }
    if (winner === undefined) return true;
    // In one step, so that nobody else here can take it in between.
    const lost = formOfFile(winner);
    const commands = await view((state) => handOver(state, task, lost, naming));
    try {
      await execute(commands);
    } catch (error) {
      // Another change came first, so this claim has nothing to hand over. The next pass compares both sides.
      if (error instanceof TeamError && error.code === 'stale_epoch') return false;
      throw error;
    }
    book.agreed.set(native, { form: lost, revision: 0 });
    return false;
  };

  return {
    async confirm(task, memberId) {
      if (task.assigneeId !== memberId || task.status !== 'in_progress') return false;
      book.unconfirmed.add(task.id);
      try {
        await compared;
        const native = book.toNative.get(task.id);
        // Not in the native list yet, so nobody there can have taken it.
        if (native === undefined) return true;
        const isWritten = await settle(native, task, memberId);
        if (isWritten) withheld.written(task.id);
        return isWritten;
      } catch (error) {
        // A list that is gone has no member that could take the task.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
        // A claim that cannot be written is undone, so that the answer, the journal and the file agree.
        await withheld.withhold(task, error);
        throw error;
      } finally {
        book.unconfirmed.delete(task.id);
        shared.again();
      }
    },
    async yields(native, taskId, file) {
      if (book.agreed.has(native)) return false;
      const unwritten = await view((state) => {
        const task = state.tasks.get(taskId);
        const isOurs = task?.status === 'in_progress' && !naming.isNative(state, task.assigneeId);
        if (!isOurs || !isTheirs(state, formOfFile(file), naming)) return undefined;
        const stamp = stampOf(file, stream);
        // A team that leaves takes its stamps along, and its members go on. What natives did since then comes later.
        const isUnwritten = stamp ? stamp.epoch < task.epoch : leftAt === 0;
        return isUnwritten ? viewTask(state, task) : undefined;
      });
      return unwritten !== undefined && !(await settle(native, unwritten, unwritten.assigneeId as string));
    },
  };
}

/** Whether natives have begun or finished a task, or reserved it for one of theirs. */
function isTheirs(state: TeamState, { owner, status }: TaskForm, naming: Naming): boolean {
  if (owner === undefined) return status !== 'pending';
  const id = naming.idOf(state, owner);
  return id === undefined || naming.isNative(state, id);
}

/**
 * Whether a file says nothing against a claim: its owner has left and holds nothing, or we wrote that ourselves, before
 * the task was free again here.
 */
function isOld(state: TeamState, found: TaskForm, agreed: TaskForm | undefined, naming: Naming): boolean {
  const id = found.owner === undefined ? undefined : naming.idOf(state, found.owner);
  if (found.status !== 'completed' && state.members.get(id ?? '')?.status === 'stopped') return true;
  if (!agreed || !sameHolder(agreed, found)) return false;
  return found.status === 'completed' || (id !== undefined && !naming.isNative(state, id));
}

function sameHolder(a: TaskForm, b: TaskForm): boolean {
  return a.status === b.status && a.owner === b.owner;
}

/**
 * Tasks that nobody can claim: their native file cannot be written, or it names an owner that is unknown so far. A
 * claim that is not in the file does not count. The tasks' records say that they are withheld, so the next daemon knows
 * too.
 */
export interface Withheld {
  /** Undoes a claim that could not be written, and tells people why. */
  withhold(task: SharedTask, error: unknown): Promise<void>;
  /** The file of a task was written: the next failure is the first one again. */
  written(taskId: string): void;
  /** Frees tasks whose file seems writable again, after a pause that grows, and those whose owner has come. */
  look(): Promise<void>;
  /** Frees all of them: the native team has no say any more. */
  end(): Promise<void>;
}

/** Starts with what an earlier daemon withheld. */
export function withholdTasks(
  shared: Pick<Shared, 'paths' | 'naming' | 'times' | 'view' | 'execute' | 'report' | 'again'>,
): Withheld {
  const { paths, naming, view, execute } = shared;
  /** Tasks with an unknown owner that people were told about. */
  const told = new Set<string>();
  /** How often in a row a claim could not be written, and when it may be tried again, by the monotonic clock. */
  const failed = new Map<string, { readonly times: number; readonly until: number }>();
  /** A file that can be read may still not be writable: on a full disk every claim would fail, again and again. */
  const isWritable = (taskId: string, native: string): boolean => {
    if (performance.now() < (failed.get(taskId)?.until ?? 0)) return false;
    const path = paths.task(native);
    const { kind } = taskOf(readNow(path), native);
    return (kind === 'read' || kind === 'absent') && !isHeld(path);
  };
  const report = (taskId: string, why: string): void => {
    shared.report(`task ${taskId} is withheld: ${why}`);
  };
  const giveFree = async (ids: readonly string[]): Promise<void> => {
    const commands = ids.map((taskId) => ({ type: 'task.update', by: SYSTEM, taskId, withheld: null }) as const);
    if (commands.length > 0) await execute(commands);
  };

  return {
    async withhold({ id: taskId, epoch }, error) {
      report(taskId, error instanceof Error ? error.message : 'unknown');
      const times = (failed.get(taskId)?.times ?? 0) + 1;
      const pause = pauseAfter(times, shared.times);
      failed.set(taskId, { times, until: performance.now() + pause });
      shared.again(pause + 10);
      const withheld = 'its native file cannot be written';
      try {
        // In one step: a member that sees the release must not claim the task again.
        await execute([
          { type: 'task.release', by: SYSTEM, taskId, epoch, reason: withheld },
          { type: 'task.update', by: SYSTEM, taskId, withheld },
        ]);
      } catch (refusal) {
        // Another change came first, so this claim does not hold the task any more.
        if (!(refusal instanceof TeamError)) throw refusal;
      }
    },
    written: (taskId) => void failed.delete(taskId),
    async look() {
      const { free, aside } = await view((state) => {
        const withheld = withheldIn(state);
        const isAwaited = (task: TaskRecord): boolean => strangerOf(state, task, naming) !== undefined;
        const isFree = (task: TaskRecord): boolean =>
          setAsideFor(task) ? !isAwaited(task) : isWritable(task.id, nativeTaskId(task) ?? '');
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
      await giveFree(await view((state) => (isClosed(state) ? [] : withheldIn(state).map(({ id }) => id))));
    },
  };
}

function withheldIn({ tasks }: TeamState): TaskRecord[] {
  return [...tasks.values()].filter((task) => task.withheld !== undefined);
}
