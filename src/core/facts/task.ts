import { mergeMetadata } from '../json.ts';
import type { TaskRecord, TeamState } from '../state.ts';
import { putNextTask, putTask } from '../tables.ts';
import { defined } from './apply.ts';
import type { ApplyTo } from './apply.ts';

export const TASK_FACTS: ApplyTo<'task'> = {
  'task:created': (state, { type: _type, at, by, cause: _cause, taskId, ...data }) => {
    const now = new Date(at);
    putNextTask(state, Number(taskId) + 1);
    putTask(state, taskId, {
      ...data,
      id: taskId,
      teamId: state.teamId,
      status: 'pending',
      reserved: data.assigneeId !== undefined,
      epoch: 0,
      revision: 1,
      rejections: 0,
      createdBy: by,
      createdAt: now,
      updatedAt: now,
    });
  },

  'task:updated': (state, { type: _type, at, by: _by, cause: _cause, taskId, ...changes }) =>
    changeTask(state, taskId, at, (task) => ({
      ...defined(changes),
      metadata: mergeMetadata(task.metadata, changes.metadata),
    })),

  'task:assigned': (state, { at, taskId, assigneeId, epoch }) =>
    changeTask(state, taskId, at, () => ({
      status: 'pending',
      assigneeId: assigneeId ?? undefined,
      reserved: assigneeId !== null,
      epoch,
      startedAt: undefined,
    })),

  'task:claimed': (state, { at, taskId, memberId, epoch }) =>
    changeTask(state, taskId, at, () => ({
      status: 'in_progress',
      assigneeId: memberId,
      epoch,
      startedAt: new Date(at),
    })),

  'task:released': (state, { at, taskId, epoch }) =>
    changeTask(state, taskId, at, (task) => ({
      status: 'pending',
      assigneeId: task.reserved ? task.assigneeId : undefined,
      epoch,
      startedAt: undefined,
    })),

  'task:rejected': (state, { at, taskId, feedback }) =>
    changeTask(state, taskId, at, (task) => ({ rejections: task.rejections + 1, feedback })),

  'task:completed': (state, { at, taskId, memberId, result }) =>
    changeTask(state, taskId, at, (task) => ({
      status: 'completed',
      assigneeId: memberId ?? task.assigneeId,
      result,
      completedAt: new Date(at),
    })),

  'task:failed': (state, { at, taskId, reason }) =>
    changeTask(state, taskId, at, () => ({ status: 'failed', failure: reason, completedAt: new Date(at) })),

  'task:reopened': (state, { at, taskId, epoch }) =>
    changeTask(state, taskId, at, (task) => ({
      status: 'pending',
      assigneeId: task.reserved ? task.assigneeId : undefined,
      epoch,
      result: undefined,
      failure: undefined,
      startedAt: undefined,
      completedAt: undefined,
    })),

  'task:deleted': (state, { at, taskId, epoch }) => {
    changeTask(state, taskId, at, () => ({ status: 'deleted', epoch }));
    for (const dependent of state.index.dependents.get(taskId) ?? []) {
      changeTask(state, dependent, at, (task) => ({
        dependencies: task.dependencies.filter((dependency) => dependency !== taskId),
      }));
    }
  },

  'task:unblocked': () => {},

  'task:dependencies-added': (state, { at, taskId, dependencies }) =>
    changeTask(state, taskId, at, (task) => ({ dependencies: [...task.dependencies, ...dependencies] })),

  'task:dependencies-removed': (state, { at, taskId, dependencies }) =>
    changeTask(state, taskId, at, (task) => ({
      dependencies: task.dependencies.filter((dependency) => !dependencies.includes(dependency)),
    })),
};

function changeTask(state: TeamState, id: string, at: number, change: (task: TaskRecord) => Partial<TaskRecord>): void {
  const task = state.tasks.get(id);
  if (task) {
    putTask(state, id, {
      ...task,
      updatedAt: new Date(at),
      revision: task.revision + 1,
      ...change(task),
    });
  }
}
