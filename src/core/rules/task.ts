import { SYSTEM } from '../actor.ts';
import type { Actor } from '../actor.ts';
import { hasLimits, isRaised } from '../budget.ts';
import type { Budget } from '../budget.ts';
import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { isChosenTaskId } from '../fields.ts';
import { CHOSEN_TASK_ID } from '../limits.ts';
import { describeTask, obstacles, openDependencies, refuseClaim, waitsOf } from '../obstacles.ts';
import { bestReady } from '../ready.ts';
import { isExpected } from '../state.ts';
import type { TaskRecord, TeamState } from '../state.ts';
import { quote } from '../text.ts';
import { requireMember, requireTask } from '../view.ts';
import { freeFiles } from './files.ts';
import { rejectTask, releaseTask } from './give-back.ts';
import {
  addDependencies,
  consequencesOfFailure,
  failsAtOnce,
  removeDependencies,
  requireDependencies,
  unblocked,
  unblockedBy,
} from './graph.ts';
import {
  completable,
  requireActor,
  requireFit,
  requireFreeKeys,
  requireFresh,
  requireLive,
  requireManager,
  requireOpenTeam,
  requirePerson,
  requirePriority,
  requireRoom,
  requireUnfinished,
  requireWorker,
  writable,
} from './guard.ts';
import { landWork, requireAccepted, requireLanding, withdrawWork } from './landing.ts';
import { renewTask, requireOutsider } from './lease.ts';
import type { RulesOf } from './rule.ts';

export const TASK_RULES: RulesOf<'task'> = {
  'task.create': createTask,
  'task.update': updateTask,
  'task.assign': assignTask,
  'task.claim': claimTask,
  'task.renew': renewTask,
  'task.release': releaseTask,
  'task.complete': completeTask,
  'task.reject': rejectTask,
  'task.fail': failTask,
  'task.reopen': reopenTask,
  'task.delete': deleteTask,
  'task.addDependencies': addDependencies,
  'task.removeDependencies': removeDependencies,
};

function createTask(state: TeamState, command: CommandOf<'task.create'>): TeamEvent[] {
  requireOpenTeam(state);
  requireActor(state, command.by);
  requireRoom(state);
  const dependencies = [...new Set(command.dependencies)];
  requireDependencies(state, dependencies);
  if (command.assigneeId !== undefined) requireLive(state, command.assigneeId);
  if (command.assigneeId !== undefined) requireWorker(state, command.assigneeId);
  requirePriority(command.priority);
  const { native, metadata } = command;
  requireFreeKeys(command.by, 'task', { before: undefined, changes: metadata });
  const taskId = command.taskId ?? String(state.nextTask);
  if (Number(taskId) < state.nextTask) {
    throw new TeamError('exists', `Task ${taskId} of team ${state.teamId} exists or did: ids are never used again`);
  }
  if (command.taskId !== undefined && !isChosenTaskId(taskId)) {
    throw new TeamError('invalid', `${quote(taskId)} cannot be chosen for a task: numbers up to ${CHOSEN_TASK_ID} can`);
  }
  return [
    event(command, 'task:created', {
      taskId,
      title: command.title,
      description: command.description,
      activeForm: command.activeForm,
      priority: command.priority,
      assigneeId: command.assigneeId,
      dependencies,
      ...(command.files && command.files.length > 0 && { files: command.files }),
      onDependencyFailure: command.onDependencyFailure,
      ...(hasLimits(command.budget) && { budget: command.budget }),
      metadata: native === undefined ? metadata : { ...metadata, native: { id: native } },
      ...(command.unjudged && { unjudged: true }),
    }),
    ...failsAtOnce(state, command, { id: taskId, dependencies, onDependencyFailure: command.onDependencyFailure }),
  ];
}

/** Any member may change a task's text, priority and dependencies (graph.ts). Only its holder or a manager ends it. */
function updateTask(state: TeamState, command: CommandOf<'task.update'>): TeamEvent[] {
  requireOpenTeam(state);
  requireActor(state, command.by);
  const task = requireTask(state, command.taskId);
  requireFresh(task, command);
  const {
    type: _type,
    at: _at,
    by: _by,
    commandId: _commandId,
    print: _print,
    epoch: _epoch,
    revision: _revision,
    ...changes
  } = command;
  if (changes.unjudged !== undefined) return passTask(state, task, command);
  if (changes.inner !== undefined) return enterTask(task, command, changes.inner);
  if (changes.withheld !== undefined) requireWithholder(task, command.by);
  const isSaid = (changes.withheld ?? undefined) === task.withheld && changes.metadata === undefined;
  if (changes.withheld !== undefined && isSaid) return [];
  requireFreeKeys(command.by, 'task', { before: task.metadata, changes: changes.metadata });
  requireFit(`task ${task.id}`, task.metadata, changes.metadata);
  if (changes.priority !== undefined) requirePriority(changes.priority);
  if (changes.budget) requireBudgetChange(state, task, { by: command.by, budget: changes.budget });
  const { inner: _inner, ...said } = changes;
  const updated = event(command, 'task:updated', said);
  const { files } = changes;
  if (task.status !== 'pending') return [updated, ...(files ? freeFiles(state, command, [task], files) : [])];
  const after = {
    ...task,
    files: files === undefined ? task.files : files,
    withheld: changes.withheld === undefined ? task.withheld : (changes.withheld ?? undefined),
    onDependencyFailure: changes.onDependencyFailure ?? task.onDependencyFailure,
  };
  const settled = waitsOf(state, task.id) - openDependencies(state, after).length;
  const ready = unblocked(state, command, task, { after, settled });
  const isOther = after.onDependencyFailure !== task.onDependencyFailure;
  return [updated, ...ready, ...(isOther ? failsAtOnce(state, command, after) : [])];
}

/** The lead and the creator of a task may lower its budget. Only a person raises it. */
function requireBudgetChange(
  state: TeamState,
  { id, budget: before, createdBy }: TaskRecord,
  { by, budget }: { by: Actor; budget: Budget },
): void {
  if (isRaised(before, budget)) requirePerson(by, `raise the budget of task ${id}`);
  requireManager(state, by, `change the budget of task ${id}`, createdBy);
}

/** Marks a new task as accepted by the hooks; a second time changes nothing. */
function passTask(state: TeamState, task: TaskRecord, command: CommandOf<'task.update'>): TeamEvent[] {
  if (command.by !== SYSTEM) {
    throw new TeamError(
      'not_allowed',
      `${command.by} may not let task ${task.id} pass: only the hooks on new tasks may`,
    );
  }
  if (!task.unjudged) return [];
  return [
    event(command, 'task:updated', { taskId: task.id, unjudged: false }),
    ...unblocked(state, command, task, { after: { ...task, unjudged: undefined } }),
  ];
}

/** A team begins to work on a task for its holder; a second time changes nothing. */
function enterTask(task: TaskRecord, command: CommandOf<'task.update'>, teamId: string): TeamEvent[] {
  const { id: taskId, status, assigneeId: memberId, inner } = task;
  if (command.by !== SYSTEM) {
    throw new TeamError('not_allowed', `${command.by} may not give task ${taskId} to a team: only Troupe itself may`);
  }
  if (status !== 'in_progress' || memberId === undefined) {
    throw new TeamError('conflict', `Nobody holds task ${taskId}, so no team can work on it`);
  }
  if (inner?.teamId === teamId && inner.memberId === memberId) return [];
  return [event(command, 'task:updated', { taskId, inner: { teamId, memberId } })];
}

/** Only Troupe itself withholds a task and frees it again, if another program shares the task list. */
function requireWithholder(task: TaskRecord, by: Actor): void {
  if (by !== SYSTEM) {
    throw new TeamError('not_allowed', `${by} may not withhold task ${task.id}: only Troupe itself may`);
  }
}

/** Reserves a task. Taking it from its holder raises the epoch, so that the holder's writes are refused. */
function assignTask(state: TeamState, command: CommandOf<'task.assign'>): TeamEvent[] {
  requireOpenTeam(state);
  requireActor(state, command.by);
  const task = requireTask(state, command.taskId);
  requireFresh(task, command);
  const { assigneeId } = command;
  if (assigneeId !== null) {
    requireLive(state, assigneeId);
    requireWorker(state, assigneeId);
  }
  const held = task.status === 'in_progress';
  if (!held && task.status !== 'pending') {
    throw new TeamError('conflict', `Cannot assign ${describeTask(state, task.id)}: reopen it first`);
  }
  const takesFreeTask = !held && task.assigneeId === undefined && assigneeId === command.by;
  const handsOver = task.assigneeId === command.by || task.createdBy === command.by;
  if (!takesFreeTask && !handsOver) requireManager(state, command.by, `assign task ${task.id}`);
  if ((task.assigneeId ?? null) === assigneeId) return [];
  return [
    ...withdrawWork(command, task, 'the task was given to another member'),
    event(command, 'task:assigned', { taskId: task.id, assigneeId, epoch: task.epoch + (held ? 1 : 0) }),
    // Whoever assigns a withheld task to a member frees it.
    ...(assigneeId === null
      ? []
      : unblocked(state, command, task, { after: { ...task, assigneeId, withheld: undefined } })),
    ...freeFiles(state, command, [task]),
  ];
}

/** Claims a pending task without obstacles, in one step. Without an id: the best such task. */
function claimTask(state: TeamState, command: CommandOf<'task.claim'>): TeamEvent[] {
  requireOpenTeam(state);
  const { by, memberId = by, lease } = command;
  if (memberId !== by) requireManager(state, by, `start a task for ${memberId}`);
  const member = requireLive(state, memberId);
  if (lease !== undefined) requireOutsider(member);
  const wanted = command.taskId === undefined ? undefined : state.tasks.get(command.taskId);
  // A deleted task is treated like one that never existed.
  const named = wanted?.status === 'deleted' ? undefined : wanted;
  const [obstacle] = obstacles(state, { memberId, at: command.at }, named);
  if (obstacle) throw refuseClaim(state, memberId, obstacle, named);
  const task = command.taskId === undefined ? bestReady(state, memberId) : requireTask(state, command.taskId);
  if (!task) return [];
  const epoch = task.epoch + 1;
  return [event(command, 'task:claimed', { taskId: task.id, memberId, epoch, ...(lease !== undefined && { lease }) })];
}

export function completeTask(state: TeamState, command: CommandOf<'task.complete'>): TeamEvent[] {
  const task = command.work?.landingId === undefined ? completable(state, command) : requireTask(state, command.taskId);
  const memberId = task.assigneeId ?? state.members.get(command.by)?.id;
  requireLanding(state, command, task);
  requireAccepted(command, task);
  return [
    ...landWork(state, command, task),
    event(command, 'task:completed', { taskId: task.id, memberId, result: command.result }),
    ...unblockedBy(state, command, task),
  ];
}

export function failTask(state: TeamState, command: CommandOf<'task.fail'>): TeamEvent[] {
  const task = writable(state, command, 'fail');
  requireUnfinished(state, task, 'fail');
  return [
    ...withdrawWork(command, task, 'the task failed'),
    event(command, 'task:failed', { taskId: task.id, memberId: task.assigneeId, reason: command.reason }),
    ...consequencesOfFailure(state, command, task.id),
  ];
}

/** Records a new epoch, who reopened the task and why: a final state is never undone silently. */
function reopenTask(state: TeamState, command: CommandOf<'task.reopen'>): TeamEvent[] {
  requireOpenTeam(state);
  const task = requireTask(state, command.taskId, { deleted: true });
  requireManager(state, command.by, `reopen task ${task.id}`, task.createdBy);
  requireFresh(task, command);
  if (task.status === 'pending' || task.status === 'in_progress') {
    throw new TeamError(
      'conflict',
      `Cannot reopen ${describeTask(state, task.id)}: it is open; update or assign it instead`,
    );
  }
  if (task.status === 'deleted') requireRoom(state);
  const epoch = task.epoch + 1;
  const events = [event(command, 'task:reopened', { taskId: task.id, epoch, reason: command.reason })];
  // Its member may have left since. Reserved for an absent member, it could never be claimed.
  if (task.reserved && !isExpected(requireMember(state, task.assigneeId as string))) {
    events.push(event(command, 'task:assigned', { taskId: task.id, assigneeId: null, epoch }));
  }
  return events;
}

function deleteTask(state: TeamState, command: CommandOf<'task.delete'>): TeamEvent[] {
  requireOpenTeam(state);
  const task = requireTask(state, command.taskId);
  requireManager(state, command.by, `delete task ${task.id}`, task.createdBy);
  requireFresh(task, command);
  // Another daemon's hooks accepted it first, and somebody may work on it by now.
  if (command.unjudged && !task.unjudged) return [];
  return [
    ...withdrawWork(command, task, 'the task was deleted'),
    event(command, 'task:deleted', { taskId: task.id, epoch: task.epoch + 1 }),
    ...unblockedBy(state, command, task),
  ];
}
