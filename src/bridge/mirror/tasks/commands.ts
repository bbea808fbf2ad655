import { SYSTEM } from '../../../core/actor.ts';
import { TeamError } from '../../../core/errors.ts';
import { explainBlocked, openDependencies, waitsOf } from '../../../core/obstacles.ts';
import type { TaskRecord, TeamState } from '../../../core/state.ts';
import { quote } from '../../../core/text.ts';
import type { NewCommand } from '../../../ledger/ledger.ts';
import type { NativeTask } from '../../format.ts';
import { fileMark } from '../marks.ts';
import type { Naming } from '../names.ts';
import { formOfFile } from './form.ts';
import type { Links, TaskForm } from './form.ts';

/** A native change of a task as commands, carried out in order until one is refused. */
export type Step = readonly NewCommand[];

/** Commands that create our tasks for native ones, under the same ids where those are free. */
export function creations(
  state: TeamState,
  files: readonly NativeTask[],
  { by, links, isDone }: { by: string; links: Links; isDone: (native: string) => boolean },
): (NewCommand & { taskId: string })[] {
  const ids = new Map<string, string>();
  let next = state.nextTask;
  for (const { id } of files) {
    const taskId = Number(id) >= next ? id : String(next);
    next = Number(taskId) + 1;
    ids.set(id, taskId);
  }
  const made = new Set<string>();
  return files.map((file) => {
    const form = formOfFile(file);
    const taskId = ids.get(file.id) ?? '';
    // Work that was begun there goes on, even if the task waits for an open one: their rules do not forbid that.
    const blockers = form.status === 'pending' ? form.blockedBy : form.blockedBy.filter(isDone);
    // Edges to later tasks are added once those exist.
    const before = blockers.flatMap((id) => (made.has(id) ? (ids.get(id) ?? []) : known(state, links.toTask.get(id))));
    made.add(file.id);
    return {
      type: 'task.create' as const,
      by,
      taskId,
      title: form.subject,
      description: form.description,
      activeForm: form.activeForm,
      priority: 'medium' as const,
      dependencies: [...new Set(before)].slice(0, 64),
      onDependencyFailure: 'block' as const,
      native: file.id,
    };
  });
}

/** What a file says, beside the agreed form and ours. */
export interface Finding {
  readonly found: TaskForm;
  /** The agreed form; undefined after a restart if both sides may have changed. */
  readonly base: TaskForm | undefined;
  readonly ours: TaskForm;
  /** The file's writer had read it before our last write: an accidental overwrite, not a request. */
  readonly isStale: boolean;
  /** Nothing was agreed since we joined or were started: what natives did meanwhile was not against our rules. */
  readonly isFirst: boolean;
  readonly links: Links;
}

/** The steps that the native side took. */
export function stepsFrom(state: TeamState, task: TaskRecord, finding: Finding): Step[] {
  const { found, base, ours, isStale, isFirst, links } = finding;
  const by = links.naming.author(state);
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
    // A task that is begun there waits for nothing more.
    const isFixed = (id: string): boolean => found.status !== 'pending' && state.tasks.get(id)?.status !== 'completed';
    const added = edges.filter((id) => !task.dependencies.includes(id) && id !== taskId && !isFixed(id));
    if (added.length > 0) steps.push([{ type: 'task.addDependencies', by, taskId, dependencies: added }]);
    const gone = (base?.blockedBy ?? [])
      .filter((id) => !found.blockedBy.includes(id))
      .flatMap((id) => links.toTask.get(id) ?? [])
      .filter((id) => task.dependencies.includes(id));
    if (gone.length > 0) steps.push([{ type: 'task.removeDependencies', by, taskId, dependencies: gone }]);
  }
  const isMoved = base ? found.status !== base.status || found.owner !== base.owner : true;
  const isDifferent = found.status !== ours.status || found.owner !== ours.owner;
  if (isMoved && isDifferent) {
    const isDoubtful = isStale || base === undefined;
    const moves = statusSteps(state, task, found, { isDoubtful, naming: links.naming });
    if (isFirst && !links.naming.leads) steps.push(...waitNoMore(state, task, moves, by));
    steps.push(...ifStill(task, giveFree(task, moves)));
  }
  return steps;
}

/**
 * The same steps, refused if the task changed hands since they were planned. Otherwise a native reservation, planned
 * while the task was free, would take it from our member that claimed it in between. A claim needs a free task anyway.
 */
function ifStill({ epoch }: TaskRecord, steps: readonly Step[]): Step[] {
  const isFirst = (command: NewCommand): boolean => command === steps[0]?.[0] && command.type !== 'task.claim';
  return steps.map((step) => step.map((command) => (isFirst(command) ? { ...command, epoch } : command) as NewCommand));
}

/** Work that was begun there goes on, even if the task waits for an open one: their rules do not forbid that. */
function waitNoMore(state: TeamState, task: TaskRecord, moves: readonly Step[], by: string): Step[] {
  const isBegun = task.status === 'pending' && moves.some((step) => step.some(({ type }) => type === 'task.claim'));
  const dependencies = isBegun ? openDependencies(state, task) : [];
  return dependencies.length > 0 ? [[{ type: 'task.removeDependencies', by, taskId: task.id, dependencies }]] : [];
}

/** Frees a withheld task for its native claimer in the same step, so that none of our members comes in between. */
function giveFree(task: TaskRecord, steps: readonly Step[]): Step[] {
  const takes = (step: Step): boolean => step.some(({ type }) => type === 'task.claim');
  if (task.withheld === undefined) return [...steps];
  return steps.map((step) => (takes(step) ? [endSetAside(task), ...step] : step));
}

/**
 * The steps for a new status or owner. Files name no author: what only a holder or lead may do counts as the lead's.
 */
function statusSteps(
  state: TeamState,
  task: TaskRecord,
  found: TaskForm,
  { isDoubtful, naming }: { isDoubtful: boolean; naming: Naming },
): Step[] {
  const by = naming.author(state);
  const taskId = task.id;
  const owner = found.owner === undefined ? undefined : naming.idOf(state, found.owner);
  const isNative = (id: string | undefined): boolean => naming.isNative(state, id);
  const held = task.status === 'in_progress';
  const heldByOurs = held && !isNative(task.assigneeId);
  const isOver = task.status === 'completed' || task.status === 'failed';

  if (found.status === 'completed') {
    // Where we lead, a file cannot turn a failed task into a completed one.
    if (task.status === 'completed' || (naming.leads && isOver)) return [];
    if (isDoubtful && heldByOurs) return [];
    const reopen: Step[] = task.status === 'failed' ? [[{ type: 'task.reopen', by, taskId }]] : [];
    // Completed by the named owner if the rules allow it, else by the lead.
    const own = owner !== undefined && isNative(owner) && !held;
    return own
      ? [...reopen, [{ type: 'task.claim', by: owner, taskId }], [{ type: 'task.complete', by: owner, taskId }]]
      : [
          ...reopen,
          [{ type: 'task.complete', by: held && isNative(task.assigneeId) ? (task.assigneeId as string) : by, taskId }],
        ];
  }
  if (found.owner !== undefined && owner === undefined) {
    if (isDoubtful && (held || isOver)) return [];
    const reopen: Step[] = isOver ? [[{ type: 'task.reopen', by, taskId }]] : [];
    const isTaken = isOver || task.assigneeId !== undefined;
    const free: Step = isTaken ? [{ type: 'task.assign', by, taskId, assigneeId: null }] : [];
    const status = waitsOf(state, taskId) > 0 ? 'pending' : found.status;
    return [...reopen, [...free, setAside(task, { ...found, status })]];
  }
  if (found.status === 'in_progress') {
    if (isOver && isDoubtful) return [];
    const reopen: Step[] = isOver ? [[{ type: 'task.reopen', by, taskId }]] : [];
    const claimer = owner ?? by;
    if (!isNative(claimer)) {
      // Nobody starts work in the name of our member: the task is reserved, and the member claims it.
      if (heldByOurs && (isDoubtful || task.assigneeId === claimer)) return [];
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

/**
 * Withholds a task whose file names an owner that this team does not know. The oldest version lists a teammate only
 * after it was given work and started. If the task counted as free, the first member to come would do the work.
 */
function setAside(task: TaskRecord, { owner = '', status }: TaskForm): NewCommand {
  const metadata = fileMark(task, { owner, begun: status === 'in_progress' || undefined });
  const withheld = `its owner ${quote(owner)} is not on this team yet`;
  return { type: 'task.update', by: SYSTEM, taskId: task.id, metadata, withheld };
}

/** Why an unknown owner may not have begun a task: it is blocked, so nobody may. */
export function refusalOf(
  state: TeamState,
  taskId: string,
  { owner, status }: TaskForm,
  naming: Naming,
): TeamError | undefined {
  const isStranger = owner !== undefined && naming.idOf(state, owner) === undefined;
  const task = state.tasks.get(taskId);
  if (!task || !isStranger || status !== 'in_progress' || waitsOf(state, taskId) === 0) return undefined;
  return new TeamError('blocked', `Task ${taskId} ${explainBlocked(state, task)}`);
}

/** Whether the rules refuse a change. A journal that cannot write refuses nothing: the change is made later. */
export function isRefusal(error: unknown): error is TeamError {
  return error instanceof TeamError && error.code !== 'storage' && error.code !== 'overloaded';
}

/** Stops withholding a task: its owner is known, or it has another one. */
export function endSetAside(task: TaskRecord): NewCommand {
  const metadata = fileMark(task, { owner: undefined, begun: undefined });
  return { type: 'task.update', by: SYSTEM, taskId: task.id, metadata, withheld: null };
}

/**
 * The task's file was deleted. We record that, because the task returns with its file, unlike one that we deleted
 * ourselves.
 */
export function partings(native: string, taskId: string, by: string): Step {
  return [
    { type: 'task.update', by: SYSTEM, taskId, metadata: { native: { id: native, gone: true } } },
    { type: 'task.delete', by, taskId },
  ];
}

/** The file is back. */
export function returns(native: string, taskId: string, by: string): Step {
  return [
    { type: 'task.reopen', by, taskId, reason: 'its file is back' },
    { type: 'task.update', by: SYSTEM, taskId, metadata: { native: { id: native } } },
  ];
}

/**
 * Whether a member that we lead called its only task completed during the turn about it. Then the end of that turn
 * completes the task, with the turn's result.
 */
export function isEnding(state: TeamState, naming: Naming, taskId: string, file: NativeTask): boolean {
  const task = state.tasks.get(taskId);
  const holder = state.members.get(task?.assigneeId ?? '');
  if (file.status !== 'completed' || task?.status !== 'in_progress' || holder?.status !== 'active') return false;
  const isHeld = ({ status, assigneeId }: TaskRecord): boolean => status === 'in_progress' && assigneeId === holder.id;
  return naming.isNative(state, holder.id) && [...state.tasks.values()].filter(isHeld).length === 1;
}

/** The native side was first: the task goes to the owner in the file, with everything that happened there since. */
export function handOver(
  state: TeamState,
  { id: taskId, epoch }: { id: string; epoch: number },
  found: TaskForm,
  naming: Naming,
): NewCommand[] {
  const lead = naming.author(state);
  const named = found.owner === undefined ? undefined : naming.idOf(state, found.owner);
  const task = state.tasks.get(taskId);
  if (task && found.owner !== undefined && named === undefined && found.status !== 'completed') {
    const free = { type: 'task.assign', by: SYSTEM, taskId, assigneeId: null, epoch } as const;
    return [free, setAside(task, found)];
  }
  const owner = named ?? (found.status === 'pending' ? null : lead);
  const member = owner === null ? undefined : state.members.get(owner);
  const isTheirs = member !== undefined && naming.isNative(state, member.id);
  const commands: NewCommand[] = [{ type: 'task.assign', by: SYSTEM, taskId, assigneeId: owner, epoch }];
  if (found.status !== 'pending' && isTheirs) commands.push({ type: 'task.claim', by: member.id, taskId });
  // Where we lead, the gates judge it first.
  if (found.status === 'completed' && !naming.leads) commands.push({ type: 'task.complete', by: SYSTEM, taskId });
  return commands;
}

/** An existing task that is not deleted, as a list of one. */
function known(state: TeamState, taskId: string | undefined): string[] {
  const task = taskId === undefined ? undefined : state.tasks.get(taskId);
  return task && task.status !== 'deleted' ? [task.id] : [];
}
