import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import { dependentsOf } from '../../core/ready.ts';
import type { TaskRecord, TeamState } from '../../core/state.ts';
import type { SharedTask } from '../../core/task.ts';
import type { NewCommand } from '../../ledger/ledger.ts';
import type { NativeTask } from '../format.ts';
import { readNow } from '../json-file.ts';
import { changeTaskFile, createTaskFile, removeTaskFile, taskIds, taskOf } from '../task-file.ts';
import { memberIdOf, nameFor, nativeMemberName, nativeTaskId } from './names.ts';
import type { MirrorParts } from './parts.ts';
import { fileOf, formOfFile, formOfTask, sameForm, stampOf } from './task-form.ts';
import type { Links, TaskForm } from './task-form.ts';

/** Keeps the tasks of a team and those of a native team the same. */
export interface TaskMirror {
  /** One comparison of everything, both ways. */
  pass(files: ReadonlyMap<string, NativeTask>): Promise<void>;
  /** Shows a claim to the native side; false when somebody there was first, which the journal then says. */
  confirm(task: Pick<SharedTask, 'id' | 'assigneeId' | 'status' | 'epoch'>, memberId: string): Promise<boolean>;
}

/** So many tasks are compared at a time. */
const TOGETHER = 32;

/** What the native side did to a task, as commands, one after the other as far as they go. */
type Step = readonly NewCommand[];

export function mirrorTasks(parts: MirrorParts): TaskMirror {
  const { ledger, teamId, paths, stream } = parts;
  const links: Links = { toTask: new Map(), toNative: new Map() };
  /** What both sides last agreed on, by native id, and the revision of ours that the file shows. */
  const agreed = new Map<string, { form: TaskForm; revision: number }>();
  /** Claims that wait for their confirmation: until then the native side has the better right. */
  const unconfirmed = new Set<string>();

  const link = (native: string, taskId: string): void => {
    links.toTask.set(native, taskId);
    links.toNative.set(taskId, native);
  };
  const learnLinks = (state: TeamState): void => {
    if (links.toTask.size > 0) return;
    for (const task of state.tasks.values()) {
      const native = nativeTaskId(task);
      if (native !== undefined && !links.toTask.has(native)) link(native, task.id);
    }
  };
  const view = <R>(pick: (state: TeamState) => R): Promise<R> => ledger.view(teamId, pick);
  const execute = (commands: Step): Promise<void> => ledger.execute(teamId, commands, () => undefined);

  /** Writes what our side says into the file that was looked at; one that has changed since is looked at again. */
  const show = async (native: string, taskId: string, seen: NativeTask): Promise<void> => {
    const wanted = await view((state) => {
      const task = state.tasks.get(taskId);
      return (
        task && {
          task,
          form: formOfTask(state, task, links),
          file: (before?: NativeTask) => fileOf(state, task, { links, before, stream }),
        }
      );
    });
    if (!wanted) return;
    if (wanted.task.status === 'deleted') {
      agreed.delete(native);
      await removeTaskFile(paths, native);
      return;
    }
    const isDone = await changeTaskFile(paths, native, (before) => {
      const write = before && ({ ...wanted.file(before), id: native } as NativeTask);
      if (!before || !write || unconfirmed.has(taskId)) return { answer: false };
      const isShown = sameForm(formOfFile(before), wanted.form) && isCovered(before, write);
      if (isShown) return { answer: true };
      return sameForm(formOfFile(before), formOfFile(seen)) ? { answer: true, write } : { answer: false };
    });
    if (isDone) agreed.set(native, { form: wanted.form, revision: wanted.task.revision });
    else parts.again();
  };

  /** What the file says that was not agreed on becomes commands; the core may refuse them, and then the file is put back. */
  const take = async (native: string, taskId: string, file: NativeTask): Promise<void> => {
    const found = formOfFile(file);
    const before = agreed.get(native);
    const plan = await view((state): { steps: Step[]; task: TaskRecord } | undefined => {
      const task = state.tasks.get(taskId);
      if (!task || task.status === 'deleted') return undefined;
      const ours = formOfTask(state, task, links);
      const stamp = stampOf(file, stream);
      // Without a memory of what was agreed, a file that shows our present revision shows what was agreed.
      const base = before?.form ?? (stamp?.revision === task.revision ? ours : undefined);
      const isStale = before !== undefined && (stamp?.revision ?? 0) < before.revision;
      return { task, steps: stepsFrom(state, task, { found, base, ours, isStale, links }) };
    });
    if (!plan) return;
    for (const commands of plan.steps) {
      try {
        await execute(commands);
      } catch (error) {
        if (!(error instanceof TeamError)) throw error;
        await tellLoser(native, found, error);
        break;
      }
    }
  };

  const tellLoser = async (native: string, found: TaskForm, error: TeamError): Promise<void> => {
    const holder = await view((state) => {
      const id = state.tasks.get(links.toTask.get(native) ?? '')?.assigneeId;
      return id === undefined ? undefined : nameFor(state, id);
    });
    parts.report(`task ${native}: ${error.message}`);
    const to = found.owner !== undefined && found.owner !== holder ? found.owner : parts.leadName();
    const text = `Your change of task #${native} was put back: ${error.message}.`;
    await parts.tell(to, text, `task-${native}-${error.code}-${holder ?? ''}`);
  };

  /** One task of both sides. */
  const compare = async (native: string): Promise<void> => {
    const taskId = links.toTask.get(native);
    // Much may have happened since the picture was taken.
    const now = taskOf(readNow(paths.task(native)), native);
    if (taskId === undefined || now.kind !== 'read' || unconfirmed.has(taskId)) return;
    await take(native, taskId, now.task);
    await show(native, taskId, now.task);
  };

  /** A task that came into being on the native side. */
  const adopt = async (native: string, file: NativeTask): Promise<void> => {
    const stamp = stampOf(file, stream);
    const taskId = await view((state) => {
      const own = stamp && state.tasks.get(stamp.id);
      // Written by us, and then we were ended before we noted it.
      return own && !links.toNative.has(own.id) ? own.id : undefined;
    });
    if (taskId !== undefined) {
      await note(native, taskId);
      return;
    }
    const form = formOfFile(file);
    const id = await ledger.execute(
      teamId,
      await view((state) => ({
        type: 'task.create' as const,
        by: parts.leadId(state),
        ...(Number(native) >= state.nextTask && { taskId: native }),
        title: form.subject,
        description: form.description,
        activeForm: form.activeForm,
        priority: 'medium' as const,
        dependencies: form.blockedBy.flatMap((one) => known(state, links.toTask.get(one))).slice(0, 64),
        onDependencyFailure: 'block' as const,
        metadata: { native: { id: native } },
      })),
      (_state, events) => (events[0] as { taskId: string }).taskId,
    );
    link(native, id);
    agreed.set(native, { form: { ...form, status: 'pending', owner: undefined }, revision: 0 });
    await take(native, id, file);
    await show(native, id, file);
  };

  const note = async (native: string, taskId: string): Promise<void> => {
    link(native, taskId);
    await execute([{ type: 'task.update', by: SYSTEM, taskId, metadata: { native: { id: native } } }]);
  };

  /** A task of ours that the native side does not have yet. */
  const offer = async (taskId: string): Promise<void> => {
    const file = await view((state) => {
      const task = state.tasks.get(taskId);
      return task && task.status !== 'deleted' ? fileOf(state, task, { links, stream }) : undefined;
    });
    if (!file) return;
    await note(await createTaskFile(paths, file, { wanted: taskId }), taskId);
  };

  return {
    async pass(files) {
      // What is in step is sorted out in one look: of a thousand tasks few have moved.
      const { missing, moved } = await view((state) => {
        learnLinks(state);
        const isHere = ({ id, status }: TaskRecord): boolean => status !== 'deleted' && !links.toNative.has(id);
        return {
          missing: [...state.tasks.values()].filter(isHere),
          moved: [...files].filter(([native, file]) => {
            if (file.metadata?.['_internal'] === true || file.status === 'deleted') return false;
            const task = state.tasks.get(links.toTask.get(native) ?? '');
            if (!task || task.status === 'deleted' || !isInStep(state, task, file, { links, stream })) return true;
            if (!agreed.has(native)) agreed.set(native, { form: formOfFile(file), revision: task.revision });
            return false;
          }),
        };
      });
      // New ones in their order, so that both sides number them alike; the others together, so that one commit serves many.
      for (const [native] of moved) {
        const now = links.toTask.has(native) ? undefined : taskOf(readNow(paths.task(native)), native);
        if (now?.kind === 'read') await adopt(native, now.task);
      }
      for (let at = 0; at < moved.length; at += TOGETHER) {
        await Promise.all(moved.slice(at, at + TOGETHER).map(([native]) => compare(native)));
      }
      const present = new Set(taskIds(paths));
      for (const [native, taskId] of links.toTask) {
        if (present.has(native) || !agreed.has(native)) continue;
        agreed.delete(native);
        await removeOurs(taskId);
      }
      for (const { id } of missing) if (!links.toNative.has(id)) await offer(id);
    },
    async confirm(task, memberId) {
      if (task.assigneeId !== memberId || task.status !== 'in_progress') return false;
      const native = links.toNative.get(task.id);
      // Not shown yet: nobody there can have taken it.
      if (native === undefined) return true;
      unconfirmed.add(task.id);
      try {
        const form = await view((state) => {
          const now = state.tasks.get(task.id);
          return now?.epoch === task.epoch ? { state, now } : undefined;
        });
        if (!form) return false;
        const winner = await changeTaskFile(paths, native, (before) => {
          if (!before) return { answer: undefined };
          const found = formOfFile(before);
          const mine = nameFor(form.state, memberId);
          const taken = found.status !== 'pending' || (found.owner !== undefined && found.owner !== mine);
          if (taken && !(found.owner === mine && found.status === 'in_progress')) return { answer: before };
          const write = { ...fileOf(form.state, form.now, { links, before, stream }), id: native } as NativeTask;
          agreed.set(native, { form: formOfFile(write), revision: form.now.revision });
          return { answer: undefined, write };
        });
        if (winner === undefined) return true;
        // In one step: in between nobody else may take it here.
        await execute(handOver(form.state, task, formOfFile(winner)));
        agreed.set(native, { form: formOfFile(winner), revision: 0 });
        return false;
      } finally {
        unconfirmed.delete(task.id);
        parts.again();
      }
    },
  };

  /** Removed over there; our holder's work ends with it, as if the lead had removed it here. */
  async function removeOurs(taskId: string): Promise<void> {
    const lead = await view((state) =>
      state.tasks.get(taskId)?.status === 'deleted' ? undefined : parts.leadId(state),
    );
    if (lead !== undefined) await execute([{ type: 'task.delete', by: lead, taskId }]);
  }
}

/** Whether a file shows what our side says, and has nothing that our side does not know. */
function isInStep(
  state: TeamState,
  task: TaskRecord,
  file: NativeTask,
  { links, stream }: { links: Links; stream: string },
): boolean {
  const form = formOfTask(state, task, links);
  const found = formOfFile(file);
  const edges = new Set(form.blockedBy);
  return (
    stampOf(file, stream)?.revision === task.revision &&
    sameForm(form, found) &&
    dependentsOf(state, task.id).every((id) => isListed(file.blocks, links.toNative.get(id))) &&
    edges.size === new Set(found.blockedBy).size &&
    found.blockedBy.every((id) => edges.has(id))
  );
}

/** One that has no number over there yet need not be listed. */
function isListed(list: readonly string[] | undefined, native: string | undefined): boolean {
  return native === undefined || (list ?? []).includes(native);
}

interface Finding {
  readonly found: TaskForm;
  /** What was agreed on; undefined after a restart when both sides may have moved. */
  readonly base: TaskForm | undefined;
  readonly ours: TaskForm;
  /** The file was written by somebody who had read it before our last write: an overwrite, not a wish. */
  readonly isStale: boolean;
  readonly links: Links;
}

/** The steps that the native side took. */
function stepsFrom(state: TeamState, task: TaskRecord, { found, base, ours, isStale, links }: Finding): Step[] {
  const by = state.team?.leadId ?? SYSTEM;
  const taskId = task.id;
  const steps: Step[] = [];
  const changed = (key: 'subject' | 'description' | 'activeForm'): boolean =>
    found[key] !== ours[key] && base !== undefined && found[key] !== base[key];
  const words = {
    ...(changed('subject') && { title: found.subject }),
    ...(changed('description') && { description: found.description }),
    ...(changed('activeForm') && found.activeForm !== undefined && { activeForm: found.activeForm }),
  };
  if (Object.keys(words).length > 0) steps.push([{ type: 'task.update', by, taskId, ...words }]);
  if (task.status === 'pending') {
    const edges = found.blockedBy.flatMap((id) => known(state, links.toTask.get(id)));
    const added = edges.filter((id) => !task.dependencies.includes(id) && id !== taskId);
    if (added.length > 0) steps.push([{ type: 'task.addDependencies', by, taskId, dependencies: added }]);
    const gone = (base?.blockedBy ?? [])
      .filter((id) => !found.blockedBy.includes(id))
      .flatMap((id) => links.toTask.get(id) ?? [])
      .filter((id) => task.dependencies.includes(id));
    if (gone.length > 0) steps.push([{ type: 'task.removeDependencies', by, taskId, dependencies: gone }]);
  }
  const isMoved = base ? found.status !== base.status || found.owner !== base.owner : true;
  const isDifferent = found.status !== ours.status || found.owner !== ours.owner;
  if (isMoved && isDifferent) steps.push(...statusSteps(state, task, found, isStale || base === undefined));
  return steps;
}

/** A new status or owner, as the step that it stands for. In files nobody signs: what only a holder or a lead may do, the lead did. */
function statusSteps(state: TeamState, task: TaskRecord, found: TaskForm, isDoubtful: boolean): Step[] {
  const by = state.team?.leadId ?? SYSTEM;
  const taskId = task.id;
  const owner = found.owner === undefined ? undefined : memberIdOf(state, found.owner);
  const isNative = (id: string | undefined): boolean => {
    const member = id === undefined ? undefined : state.members.get(id);
    return member !== undefined && (nativeMemberName(member) !== undefined || id === state.team?.leadId);
  };
  const held = task.status === 'in_progress';
  const heldByOurs = held && !isNative(task.assigneeId);
  const isOver = task.status === 'completed' || task.status === 'failed';

  if (found.status === 'completed') {
    if (task.status === 'completed') return [];
    if (isDoubtful && heldByOurs) return [];
    const reopen: Step[] = task.status === 'failed' ? [[{ type: 'task.reopen', by, taskId }]] : [];
    // Done by whoever it names, where the rules let it; else the lead declared it done.
    const own = owner !== undefined && isNative(owner) && !held;
    return own
      ? [...reopen, [{ type: 'task.claim', by: owner, taskId }], [{ type: 'task.complete', by: owner, taskId }]]
      : [
          ...reopen,
          [{ type: 'task.complete', by: held && isNative(task.assigneeId) ? (task.assigneeId as string) : by, taskId }],
        ];
  }
  if (found.status === 'in_progress') {
    if (isOver && isDoubtful) return [];
    const reopen: Step[] = isOver ? [[{ type: 'task.reopen', by, taskId }]] : [];
    const claimer = owner ?? by;
    if (!isNative(claimer)) {
      // Nobody starts work in the name of a member of ours: it is reserved, and the member takes it.
      if (heldByOurs && task.assigneeId === claimer) return [];
      if (heldByOurs) return [[{ type: 'task.claim', by: claimer, taskId }]];
      return [...reopen, [{ type: 'task.assign', by, taskId, assigneeId: claimer }]];
    }
    if (held && !heldByOurs) {
      return [
        [{ type: 'task.assign', by, taskId, assigneeId: claimer }],
        [{ type: 'task.claim', by: claimer, taskId }],
      ];
    }
    const reserved = task.assigneeId !== undefined && task.assigneeId !== claimer && !held;
    const free: Step[] = reserved && !isOver ? [[{ type: 'task.assign', by, taskId, assigneeId: claimer }]] : [];
    return [...reopen, ...free, [{ type: 'task.claim', by: claimer, taskId }]];
  }
  if (isDoubtful && (held || isOver)) return [];
  const assign: Step[] =
    owner !== task.assigneeId || held ? [[{ type: 'task.assign', by, taskId, assigneeId: owner ?? null }]] : [];
  if (isOver) return [[{ type: 'task.reopen', by, taskId }], ...assign];
  if (held && owner === undefined) return [[{ type: 'task.release', by, taskId, reason: 'released natively' }]];
  return assign;
}

/** The native side was first: the task goes to whom the file names, with whatever was done there since. */
function handOver(
  state: TeamState,
  { id: taskId, epoch }: { id: string; epoch: number },
  found: TaskForm,
): NewCommand[] {
  const lead = state.team?.leadId ?? SYSTEM;
  const named = found.owner === undefined ? undefined : memberIdOf(state, found.owner);
  const owner = named ?? (found.status === 'pending' ? null : lead);
  const member = owner === null ? undefined : state.members.get(owner);
  const isTheirs = member !== undefined && (nativeMemberName(member) !== undefined || member.id === lead);
  const commands: NewCommand[] = [{ type: 'task.assign', by: SYSTEM, taskId, assigneeId: owner, epoch }];
  if (found.status !== 'pending' && isTheirs) commands.push({ type: 'task.claim', by: member.id, taskId });
  if (found.status === 'completed') commands.push({ type: 'task.complete', by: SYSTEM, taskId });
  return commands;
}

/** Whether a file already has all that we would write into it. */
function isCovered(before: NativeTask, write: NativeTask): boolean {
  const all = (had: readonly string[] | undefined, want: readonly string[] | undefined): boolean =>
    (want ?? []).every((id) => (had ?? []).includes(id));
  return (
    all(before.blocks, write.blocks) &&
    all(before.blockedBy, write.blockedBy) &&
    JSON.stringify(before.metadata) === JSON.stringify(write.metadata)
  );
}

/** A task that is there and not deleted, as a list of one. */
function known(state: TeamState, taskId: string | undefined): string[] {
  const task = taskId === undefined ? undefined : state.tasks.get(taskId);
  return task && task.status !== 'deleted' ? [task.id] : [];
}
