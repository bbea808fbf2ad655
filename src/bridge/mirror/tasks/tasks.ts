import { join } from 'node:path';
import type { TeamError } from '../../../core/errors.ts';
import { dependentsOf } from '../../../core/ready.ts';
import type { TaskRecord, TeamState } from '../../../core/state.ts';
import type { SharedTask } from '../../../core/task.ts';
import type { NativeTask } from '../../format.ts';
import { isThere, readNow } from '../../json-file.ts';
import { changeTaskFile, removeTaskFile, taskOf } from '../../task-file.ts';
import { setAsideFor, wentWithFile } from '../marks.ts';
import { strangerOf } from '../names.ts';
import { hasEnded } from '../presence/presence.ts';
import type { Shared } from '../shared.ts';
import { isAhead } from './blockers.ts';
import { openBook } from './book.ts';
import { confirmClaims, withholdTasks } from './claims.ts';
import { endSetAside, isEnding, isRefusal, partings, refusalOf, returns, stepsFrom } from './commands.ts';
import type { Step } from './commands.ts';
import { fileOf, formOfFile, formOfTask, isCovered, isInStep, revisionIn, sameForm, shownOf, stampOf } from './form.ts';
import type { TaskForm } from './form.ts';
import { watchMissingFiles } from './missing-files.ts';
import { takeUpTasks, TOGETHER } from './new-tasks.ts';

/** Synchronizes the tasks of a team and a native team. */
export interface TaskMirror {
  /** A snapshot of the files is about to be taken; it contains everything written so far. */
  pictured(): void;
  /** Compares, both ways, what changed since the last pass. */
  pass(files: ReadonlyMap<string, NativeTask>): Promise<void>;
  /** Tells the native lead about a failed task: the native list has no such status. */
  tellFailed(taskId: string, reason: string): Promise<void>;
  /** Forgets that a task is in sync, after an event about it; without arguments, forgets all. */
  touch(state?: TeamState, taskId?: string): void;
  /** Writes a claim to the native side. False if the native side was first; the journal then says so. */
  confirm(task: SharedTask, memberId: string): Promise<boolean>;
  /** The native side has no say any more in who gets a task. */
  end(): Promise<void>;
}

/** What only the mirror of tasks needs. */
export interface TaskMirrorOptions {
  /** When our team left the native one before joining it again; 0 if never. */
  readonly leftAt: number;
  /** Resolves after the first comparison: only then is it known which file is which task. */
  readonly compared: Promise<void>;
  /** Set where we lead the native team: completes a task as its holder would, including its gates. */
  readonly complete?: ((taskId: string, memberId: string) => Promise<void>) | undefined;
}

/** Starts with what the journal knows. */
export function mirrorTasks(shared: Shared, { leftAt, compared, complete }: TaskMirrorOptions): TaskMirror {
  const { paths, stream, wrote, naming, view } = shared;
  const book = openBook(naming);
  const { agreed, unconfirmed, confirmed } = book;
  /** Files known to show our state: of a thousand tasks few have changed. */
  const inStep = new Map<string, NativeTask>();
  const missing = watchMissingFiles(shared);
  const withheld = withholdTasks(shared);
  const claims = confirmClaims(shared, { book, withheld, compared, leftAt });
  const { adopt, offer } = takeUpTasks(shared, book);
  const execute = async (commands: Step): Promise<void> => {
    const [only] = commands;
    if (complete && only?.type === 'task.complete') await complete(only.taskId, only.by);
    else await shared.execute(commands);
  };

  /**
   * Writes our state into a file, unless the file has changed since `seen`. Returns whether there was nothing to write.
   */
  const show = async (native: string, taskId: string, seen: NativeTask): Promise<boolean> => {
    const wanted = await view((state) => {
      const task = hasEnded(state, stream) ? undefined : state.tasks.get(taskId);
      return task && { task, shown: shownOf(state, task, book, stream) };
    });
    if (!wanted) return false;
    if (wanted.task.status === 'deleted') {
      agreed.delete(native);
      await removeTaskFile(paths, native, { trash: join(shared.trash, 'tasks'), ...shared.times.files });
      return false;
    }
    const edit = (before?: NativeTask): { answer: 'shown' | 'written' | 'changed'; write?: NativeTask } => {
      if (!before || unconfirmed.has(taskId)) return { answer: 'changed' };
      const write = { ...fileOf(wanted.shown, before), id: native } as NativeTask;
      if (sameForm(formOfFile(before), wanted.shown.form) && isCovered(before, write)) return { answer: 'shown' };
      return sameForm(formOfFile(before), formOfFile(seen)) ? { answer: 'written', write } : { answer: 'changed' };
    };
    const outcome = await changeTaskFile(paths, native, edit, { wrote, ...shared.times.files });
    if (outcome === 'changed') shared.again();
    else agreed.set(native, { form: wanted.shown.form, revision: wanted.task.revision });
    return outcome === 'shown';
  };

  /**
   * Turns what the file says beyond the agreed form into commands. If the core refuses them, the file is put back.
   * Returns false if the task changed after they were planned.
   */
  const take = async (native: string, taskId: string, file: NativeTask): Promise<boolean> => {
    const found = formOfFile(file);
    const before = agreed.get(native);
    const plan = await view((state): { steps: Step[]; epoch: number; refusal: TeamError | undefined } | undefined => {
      const task = state.tasks.get(taskId);
      if (!task || task.status === 'deleted') return undefined;
      const ours = formOfTask(state, task, book);
      const revision = revisionIn(file, stream);
      // After a restart, a file with our present revision shows the agreed form.
      const settled = before?.form ?? (revision === task.revision ? ours : leftAs(state, task, file));
      const base = settled && isSetAside(task) ? { ...settled, owner: ours.owner, status: ours.status } : settled;
      const isStale = before !== undefined && revision < before.revision;
      const steps = stepsFrom(state, task, { found, base, ours, isStale, isFirst: !before, links: book });
      return {
        steps,
        epoch: task.epoch,
        refusal: steps.length > 0 ? refusalOf(state, taskId, found, naming) : undefined,
      };
    });
    if (!plan) return true;
    for (const [i, commands] of plan.steps.entries()) {
      try {
        await execute(commands);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        const isMoved = i === 0 && (await view((state) => state.tasks.get(taskId)?.epoch !== plan.epoch));
        if (isMoved) return false;
        // Refused because our team is over: the file stays.
        if (await view((state) => hasEnded(state, stream))) return true;
        await tellLoser(native, found, error);
        break;
      }
    }
    if (plan.refusal) await tellLoser(native, found, plan.refusal);
    const over = await view((state) => {
      const task = state.tasks.get(taskId);
      const isOver = task && setAsideFor(task) && strangerOf(state, task, naming)?.owner !== found.owner;
      return isOver ? [endSetAside(task)] : [];
    });
    if (over.length > 0) await execute(over);
    return true;
  };

  const tellLoser = async (native: string, found: TaskForm, error: TeamError): Promise<void> => {
    const { holder, isOurs } = await view((state) => {
      const id = state.tasks.get(book.toTask.get(native) ?? '')?.assigneeId;
      const named = naming.idOf(state, found.owner ?? '');
      // A member of ours reads no native inbox, and did not change the file: the lead gave it the task.
      const isOurs = named !== undefined && !naming.isNative(state, named);
      return { holder: id === undefined ? undefined : naming.nameOf(state, id), isOurs };
    });
    shared.report(`task ${native}: ${error.message}`);
    const to = found.owner !== undefined && found.owner !== holder && !isOurs ? found.owner : shared.leadName();
    const text = `Your change of task #${native} was put back: ${error.message}.`;
    await shared.tell(to, text, `task-${native}-${error.code}-${holder ?? ''}`);
  };

  /** Compares one task of both sides. */
  const compare = async (file: NativeTask): Promise<void> => {
    const native = file.id;
    const taskId = book.toTask.get(native);
    // Much may have happened since the snapshot.
    const now = taskOf(readNow(paths.task(native)), native);
    if (taskId === undefined || now.kind !== 'read' || unconfirmed.has(taskId)) return;
    if (naming.leads && (await view((state) => isEnding(state, naming, taskId, now.task)))) return;
    // The owner is not known here yet, and must not be lost.
    if (shared.expected.has(now.task.owner ?? '')) return;
    // A team in shutdown takes no new work. The native team goes on, and its changes are not undone.
    const isLeaving = !naming.leads && (await view(({ team }) => team?.status === 'shutting-down'));
    const before = agreed.get(native)?.form;
    if (isLeaving && !(before && sameForm(before, formOfFile(now.task)))) return;
    await takeBack(native, taskId);
    if (await claims.yields(native, taskId, now.task)) return shared.again();
    if (await isAhead(shared, book, taskId, now.task)) return shared.again(shared.times.retry);
    // Someone took it in the meantime: the next pass compares both sides again.
    if (!(await take(native, taskId, now.task))) return shared.again();
    // What our side refuses (an edge that would close a cycle, for example) stays theirs until something changes.
    if (await show(native, taskId, now.task)) inStep.set(native, file);
  };

  return {
    pictured: () => confirmed.clear(),
    async pass(files) {
      if (!(await missing.isHere())) return;
      const found = [...files.values()].filter(({ metadata }) => metadata?.['_internal'] !== true);
      const { unshown, fresh } = await view((state) => {
        book.learn(state);
        const isHere = ({ id, status }: TaskRecord): boolean => status !== 'deleted' && !book.toNative.has(id);
        return {
          unshown: [...state.tasks.values()].filter(isHere),
          fresh: beforeFirst(
            found.filter(({ id, status }) => status !== 'deleted' && !book.toTask.has(id)),
            // The owner will be known in a moment. Later files wait too, or they would take its number.
            ({ owner = '' }) => shared.expected.has(owner),
          ),
        };
      });
      // In order, so that both sides have the same numbers; many at a time, so that they share one commit.
      if (fresh.length > 0) await adopt(fresh);
      const moved = await view((state) => found.filter((file) => hasMoved(state, file)));
      for (const level of levelsOf(moved)) {
        for (let at = 0; at < level.length; at += TOGETHER) {
          const some = level.slice(at, at + TOGETHER);
          await Promise.all(some.map((file) => shared.step(`task ${file.id}`, () => compare(file))));
        }
      }
      const gone = await view((state) =>
        [...book.toTask].flatMap(([native, taskId]) => {
          const isOver = state.tasks.get(taskId)?.status === 'deleted';
          // An unreadable file is not in the snapshot, but it exists.
          return isOver || files.has(native) || isThere(paths.task(native)) ? [] : [native];
        }),
      );
      for (const native of await missing.deleted(gone)) {
        await shared.step(`task ${native}`, () => removeOurs(native));
      }
      for (const { id } of unshown) await shared.step(`new task ${id}`, () => offer(id));
      await shared.step('tasks that are withheld', () => withheld.look());
    },
    async tellFailed(taskId, reason) {
      const native = book.toNative.get(taskId);
      if (native === undefined) return;
      const { name, revision } = await view((state) => {
        const task = state.tasks.get(taskId);
        return { name: task?.assigneeId && naming.nameOf(state, task.assigneeId), revision: task?.revision ?? 0 };
      });
      const who = name === undefined ? '' : ` (${name})`;
      const text = `Task #${native} failed${who}: ${reason}. Your list shows it as in progress, so that nobody takes it by mistake: set it to pending to do it again, or to completed.`;
      await shared.tell(shared.leadName(), text, `task-${native}-failed-${revision}`);
    },
    touch(state, taskId) {
      if (!state || taskId === undefined) {
        inStep.clear();
        return;
      }
      const near = [taskId, ...(state.tasks.get(taskId)?.dependencies ?? []), ...dependentsOf(state, taskId)];
      for (const id of near) inStep.delete(book.toNative.get(id) ?? '');
    },
    confirm: (task, memberId) => claims.confirm(task, memberId),
    end: () => withheld.end(),
  };

  /** Whether there is something to do about a file; remembers the ones in sync. */
  function hasMoved(state: TeamState, file: NativeTask): boolean {
    const native = file.id;
    if (inStep.get(native) === file || file.status === 'deleted' || confirmed.has(native)) return false;
    const task = state.tasks.get(book.toTask.get(native) ?? '');
    if (task && unconfirmed.has(task.id)) return false;
    if (!task || task.status === 'deleted' || !isInStep(state, task, file, { links: book, stream })) return true;
    if (!agreed.has(native)) agreed.set(native, { form: formOfFile(file), revision: task.revision });
    inStep.set(native, file);
    return false;
  }

  /**
   * The form in which we left a file, if its task has not changed since: our held tasks were freed, and no stamp
   * stayed.
   */
  function leftAs(state: TeamState, task: TaskRecord, file: NativeTask): TaskForm | undefined {
    if (stampOf(file, stream) !== undefined || task.updatedAt.getTime() > leftAt) return undefined;
    const ours = formOfTask(state, task, book);
    const wasFreed = task.status === 'in_progress' && !naming.isNative(state, task.assigneeId);
    return wasFreed ? { ...ours, status: 'pending', owner: undefined } : ours;
  }

  /** Deletes our task after its file was deleted. Our holder's work ends, as if the lead had deleted the task here. */
  async function removeOurs(native: string): Promise<void> {
    const taskId = book.toTask.get(native) ?? '';
    await execute(await view((state) => partings(native, taskId, naming.author(state))));
    agreed.delete(native);
    inStep.delete(native);
  }

  /** Restores a task that was deleted with its file, when the file is back. */
  async function takeBack(native: string, taskId: string): Promise<void> {
    const isBack = await view((state) => wentWithFile(state.tasks.get(taskId)));
    if (!isBack) return;
    agreed.delete(native);
    await execute(await view((state) => returns(native, taskId, naming.author(state))));
  }
}

/** Whether a task is withheld and free here: once its owner is known, its file says something new. */
function isSetAside(task: TaskRecord): boolean {
  return setAsideFor(task) !== undefined && task.status === 'pending' && task.assigneeId === undefined;
}

/** Files in levels, each after what blocks it: a task is begun here after those that it waited for are completed here. */
function levelsOf(files: readonly NativeTask[]): NativeTask[][] {
  const rest = new Map(files.map((file) => [file.id, file]));
  const levels: NativeTask[][] = [];
  while (rest.size > 0) {
    const free = [...rest.values()].filter(({ blockedBy = [] }) => !blockedBy.some((id) => rest.has(id)));
    // Files that block each other come last, in any order.
    const level = free.length > 0 ? free : [...rest.values()];
    for (const { id } of level) rest.delete(id);
    levels.push(level);
  }
  return levels;
}

function beforeFirst<T>(list: readonly T[], isIt: (one: T) => boolean): readonly T[] {
  const at = list.findIndex(isIt);
  return at === -1 ? list : list.slice(0, at);
}
