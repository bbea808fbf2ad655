import { SYSTEM } from '../actor.ts';
import { hasLimits } from '../budget.ts';
import { mergeMetadata } from '../json.ts';
import type { TaskRecord, TeamState } from '../state.ts';
import { countCompletion, noteDeleted, noteReturned, putNextTask, putTask } from '../tables.ts';
import { dateOf } from '../time.ts';
import { NO_USAGE } from '../usage.ts';
import { workedOn } from '../work-time.ts';
import { changeTask, defined, withdrawBudgets } from './apply.ts';
import type { ApplyTo, Whole } from './apply.ts';
import { takeBack } from './work.ts';

/**
 * A task before its first event. Every field is named, even if unset: copying tasks of one shape is faster (claim and
 * complete 3.0 us, not 3.9). Its fields are also the columns of tasks in a snapshot (`columns.ts`).
 */
export const NEW_TASK: Whole<TaskRecord> = {
  id: '',
  teamId: '',
  title: '',
  description: '',
  activeForm: undefined,
  status: 'pending',
  priority: 'medium',
  assigneeId: undefined,
  reserved: false,
  unjudged: undefined,
  withheld: undefined,
  dependencies: [],
  files: undefined,
  onDependencyFailure: 'block',
  epoch: 0,
  revision: 1,
  rejections: 0,
  feedback: undefined,
  result: undefined,
  failure: undefined,
  work: undefined,
  inner: undefined,
  budget: undefined,
  lease: undefined,
  leaseUntil: undefined,
  granted: undefined,
  workedMs: undefined,
  createdBy: SYSTEM,
  createdAt: dateOf(0),
  updatedAt: dateOf(0),
  startedAt: undefined,
  completedAt: undefined,
  metadata: undefined,
};

export const TASK_FACTS: ApplyTo<'task'> = {
  'task:created': (state, event) => {
    const { taskId, assigneeId } = event;
    const now = dateOf(event.at);
    putNextTask(state, Number(taskId) + 1);
    putTask(state, taskId, {
      ...NEW_TASK,
      id: taskId,
      teamId: state.teamId,
      title: event.title,
      description: event.description,
      activeForm: event.activeForm,
      priority: event.priority,
      assigneeId,
      reserved: assigneeId !== undefined,
      unjudged: event.unjudged,
      dependencies: event.dependencies,
      files: event.files,
      onDependencyFailure: event.onDependencyFailure,
      budget: event.budget,
      createdBy: event.by,
      createdAt: now,
      updatedAt: now,
      metadata: event.metadata,
    });
  },

  'task:updated': (
    state,
    {
      type: _type,
      at,
      by: _by,
      cause: _cause,
      print: _print,
      taskId,
      withheld,
      files,
      budget,
      granted,
      inner,
      ...changes
    },
  ) => {
    const before = state.tasks.get(taskId)?.budget;
    changeTask(state, taskId, at, (task) => ({
      ...task,
      ...defined(changes),
      files: files === undefined ? task.files : files.length > 0 ? files : undefined,
      withheld: withheld === undefined ? task.withheld : (withheld ?? undefined),
      ...(inner && { inner: { ...inner, usage: NO_USAGE } }),
      ...(budget && { budget: hasLimits(budget) ? budget : undefined, granted }),
      metadata: mergeMetadata(task.metadata, changes.metadata),
    }));
    if (budget) withdrawBudgets(state, { before, after: budget, taskId });
  },

  'task:assigned': (state, { at, taskId, assigneeId, epoch }) =>
    changeTask(state, taskId, at, (task) => ({
      ...task,
      status: 'pending',
      assigneeId: assigneeId ?? undefined,
      reserved: assigneeId !== null,
      // Assigning a task to a member implies that it can be claimed.
      withheld: assigneeId === null ? task.withheld : undefined,
      epoch,
      workedMs: workedBefore(state, task, at),
      startedAt: undefined,
    })),

  'task:claimed': (state, { at, taskId, memberId, epoch, lease }) =>
    changeTask(state, taskId, at, (task, now) => ({
      ...task,
      status: 'in_progress',
      assigneeId: memberId,
      epoch,
      lease,
      leaseUntil: lease === undefined ? undefined : dateOf(at + lease),
      startedAt: now,
    })),

  // No new revision: nothing that its holder could have read has changed.
  'task:renewed': (state, { at, taskId }) => {
    const task = state.tasks.get(taskId);
    if (task?.lease !== undefined) putTask(state, taskId, { ...task, leaseUntil: dateOf(at + task.lease) });
  },

  'task:released': (state, { at, taskId, epoch }) =>
    changeTask(state, taskId, at, (task) => ({
      ...task,
      status: 'pending',
      assigneeId: task.reserved ? task.assigneeId : undefined,
      epoch,
      workedMs: workedBefore(state, task, at),
      startedAt: undefined,
    })),

  'task:rejected': (state, { at, taskId, feedback }) => {
    changeTask(state, taskId, at, (task) => ({ ...task, rejections: task.rejections + 1, feedback }));
    takeBack(state, taskId, at);
  },

  'task:completed': (state, { at, taskId, memberId, result }) => {
    countCompletion(state);
    changeTask(state, taskId, at, (task, now) => ({
      ...task,
      status: 'completed',
      assigneeId: memberId ?? task.assigneeId,
      result,
      completedAt: now,
    }));
  },

  'task:failed': (state, { at, taskId, reason }) =>
    changeTask(state, taskId, at, (task, now) => ({ ...task, status: 'failed', failure: reason, completedAt: now })),

  'task:reopened': (state, { at, taskId, epoch }) => {
    noteReturned(state, taskId);
    changeTask(state, taskId, at, (task) => ({
      ...task,
      status: 'pending',
      assigneeId: task.reserved ? task.assigneeId : undefined,
      unjudged: undefined,
      withheld: undefined,
      epoch,
      rejections: 0,
      // The feedback was about a try before the one that passed.
      feedback: task.status === 'completed' ? undefined : task.feedback,
      result: undefined,
      failure: undefined,
      work: undefined,
      workedMs: workedBefore(state, task, at),
      startedAt: undefined,
      completedAt: undefined,
    }));
  },

  'task:deleted': (state, { at, taskId, epoch }) => {
    changeTask(state, taskId, at, (task) => ({ ...task, status: 'deleted', epoch }));
    for (const dependent of state.index.dependents.get(taskId) ?? []) {
      changeTask(state, dependent, at, (task) => ({
        ...task,
        dependencies: task.dependencies.filter((dependency) => dependency !== taskId),
      }));
    }
    noteDeleted(state, taskId);
  },

  'task:unblocked': () => {},

  'task:dependencies-added': (state, { at, taskId, dependencies }) =>
    changeTask(state, taskId, at, (task) => ({ ...task, dependencies: [...task.dependencies, ...dependencies] })),

  'task:dependencies-removed': (state, { at, taskId, dependencies }) =>
    changeTask(state, taskId, at, (task) => ({
      ...task,
      dependencies: task.dependencies.filter((dependency) => !dependencies.includes(dependency)),
    })),
};

/** What all holders until now worked on it, in milliseconds. */
function workedBefore(state: TeamState, task: TaskRecord, at: number): number | undefined {
  if (task.startedAt === undefined) return task.workedMs;
  return (task.workedMs ?? 0) + workedOn(task, state.requests.values(), at);
}
