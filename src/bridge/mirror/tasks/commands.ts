import { SYSTEM } from '../../../core/actor.ts';
import { TeamError } from '../../../core/errors.ts';
import { explainBlocked, waitsOf } from '../../../core/obstacles.ts';
import type { TaskRecord, TeamState } from '../../../core/state.ts';
import { quote } from '../../../core/text.ts';
import type { NewCommand } from '../../../ledger/ledger.ts';
import type { NativeTask } from '../../format.ts';
import { fileMark } from '../marks.ts';
import type { Naming } from '../names.ts';
import { formOfFile } from './form.ts';
import type { Links, TaskForm } from './form.ts';

/** What the native side did to a task, as commands, one after the other as far as they go. */
export type Step = readonly NewCommand[];

/** What makes tasks of ours of native ones, under their own ids where those are free. */
export function creations(
  state: TeamState,
  files: readonly NativeTask[],
  { by, links }: { by: string; links: Links },
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
    // Edges to tasks that come later are added when those are there.
    const before = form.blockedBy.flatMap((id) =>
      made.has(id) ? (ids.get(id) ?? []) : known(state, links.toTask.get(id)),
    );
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
      metadata: { native: { id: file.id } },
    };
  });
}

/** What a file says, beside what was agreed and what our side says. */
export interface Finding {
  readonly found: TaskForm;
  /** What was agreed on; undefined after a restart when both sides may have moved. */
  readonly base: TaskForm | undefined;
  readonly ours: TaskForm;
  /** The file was written by somebody who had read it before our last write: an overwrite, not a wish. */
  readonly isStale: boolean;
  readonly links: Links;
}

/** The steps that the native side took. */
export function stepsFrom(state: TeamState, task: TaskRecord, { found, base, ours, isStale, links }: Finding): Step[] {
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
  if (isMoved && isDifferent) {
    const isDoubtful = isStale || base === undefined;
    const moves = statusSteps(state, task, found, { isDoubtful, naming: links.naming });
    steps.push(...ifStill(task, giveFree(task, moves)));
  }
  return steps;
}

/**
 * The same steps, refused if the task changed hands since they were planned. Without that, a native reservation that was planned while
 * a task was free took it from the member of ours that had claimed it in between. A claim needs a free task anyway.
 */
function ifStill({ epoch }: TaskRecord, steps: readonly Step[]): Step[] {
  const isFirst = (command: NewCommand): boolean => command === steps[0]?.[0] && command.type !== 'task.claim';
  return steps.map((step) => step.map((command) => (isFirst(command) ? { ...command, epoch } : command) as NewCommand));
}

/** What was withheld from our members is free for who takes it natively, in one step: nobody of ours may come in between. */
function giveFree(task: TaskRecord, steps: readonly Step[]): Step[] {
  const takes = (step: Step): boolean => step.some(({ type }) => type === 'task.claim');
  if (task.withheld === undefined) return [...steps];
  return steps.map((step) => (takes(step) ? [endSetAside(task), ...step] : step));
}

/** A new status or owner, as the step that it stands for. In files nobody signs: what only a holder or a lead may do, the lead did. */
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
    // Where we lead, a task that failed is not done because a file says so.
    if (task.status === 'completed' || (naming.leads && isOver)) return [];
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

/**
 * Sets a task aside for whom its file names, whom we do not know: the oldest version lists a teammate only after it was given work and
 * started. Taken for free, the work would be done by whoever comes first.
 */
function setAside(task: TaskRecord, { owner = '', status }: TaskForm): NewCommand {
  const metadata = fileMark(task, { owner, begun: status === 'in_progress' || undefined });
  const withheld = `it is for ${quote(owner)}, who is not here yet`;
  return { type: 'task.update', by: SYSTEM, taskId: task.id, metadata, withheld };
}

/** Why somebody whom we do not know may not have begun a task: nobody may. */
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

/** It is not set aside any more: whom it is for is known, or it is another's. */
export function endSetAside(task: TaskRecord): NewCommand {
  const metadata = fileMark(task, { owner: undefined, begun: undefined });
  return { type: 'task.update', by: SYSTEM, taskId: task.id, metadata, withheld: null };
}

/** Its file was deleted. That is on record: a file may come back, and then so does the task, unlike one that we deleted ourselves. */
export function partings(native: string, taskId: string, by: string): Step {
  return [
    { type: 'task.update', by: SYSTEM, taskId, metadata: { native: { id: native, gone: true } } },
    { type: 'task.delete', by, taskId },
  ];
}

/** Its file is there again. */
export function returns(native: string, taskId: string, by: string): Step {
  return [
    { type: 'task.reopen', by, taskId, reason: 'its file is back' },
    { type: 'task.update', by: SYSTEM, taskId, metadata: { native: { id: native } } },
  ];
}

/**
 * A member that we lead said that the one task it works on is done, in the middle of the turn that is about it: that turn ends it,
 * with what it produced.
 */
export function isEnding(state: TeamState, naming: Naming, taskId: string, file: NativeTask): boolean {
  const task = state.tasks.get(taskId);
  const holder = state.members.get(task?.assigneeId ?? '');
  if (file.status !== 'completed' || task?.status !== 'in_progress' || holder?.status !== 'active') return false;
  const isHeld = ({ status, assigneeId }: TaskRecord): boolean => status === 'in_progress' && assigneeId === holder.id;
  return naming.isNative(state, holder.id) && [...state.tasks.values()].filter(isHeld).length === 1;
}

/** The native side was first: the task goes to whom the file names, with whatever was done there since. */
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
  // Where we lead, the gates judge that first.
  if (found.status === 'completed' && !naming.leads) commands.push({ type: 'task.complete', by: SYSTEM, taskId });
  return commands;
}

/** A task that is there and not deleted, as a list of one. */
function known(state: TeamState, taskId: string | undefined): string[] {
  const task = taskId === undefined ? undefined : state.tasks.get(taskId);
  return task && task.status !== 'deleted' ? [task.id] : [];
}
