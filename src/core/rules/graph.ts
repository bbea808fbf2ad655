import type { CommandEnvelope, CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { DEPENDENCIES_PER_TASK } from '../limits.ts';
import { describeTask, endsBlock, isOpen } from '../obstacles.ts';
import type { Change } from '../obstacles.ts';
import { dependentsOf } from '../ready.ts';
import type { TaskRecord, TeamState } from '../state.ts';
import { joinSome } from '../text.ts';
import { requireTask } from '../view.ts';
import { freeFiles } from './files.ts';
import { requireActor, requireFresh, requireOpenTeam } from './guard.ts';

export function addDependencies(state: TeamState, command: CommandOf<'task.addDependencies'>): TeamEvent[] {
  const task = editable(state, command);
  const added = unique(command.dependencies).filter((id) => !task.dependencies.includes(id));
  if (added.length === 0) return [];
  requireDependencies(state, added);
  if (task.dependencies.length + added.length > DEPENDENCIES_PER_TASK) {
    throw new TeamError(
      'limit',
      `Task ${task.id} would wait for more than ${DEPENDENCIES_PER_TASK} tasks: put another task in between`,
    );
  }
  const cycle = findCycle(state, task.id, added);
  if (cycle) {
    const path = joinSome(cycle, ' waits for ');
    throw new TeamError('cycle', `Task ${task.id} cannot wait for task ${cycle[1]}: ${path}`);
  }
  return [
    event(command, 'task:dependencies-added', { taskId: task.id, dependencies: added }),
    ...failsAtOnce(state, command, { ...task, dependencies: added }),
  ];
}

export function removeDependencies(state: TeamState, command: CommandOf<'task.removeDependencies'>): TeamEvent[] {
  const task = editable(state, command);
  const removed = unique(command.dependencies).filter((id) => task.dependencies.includes(id));
  if (removed.length === 0) return [];
  const settled = removed.filter((id) => isOpen(task, state.tasks.get(id))).length;
  return [
    event(command, 'task:dependencies-removed', { taskId: task.id, dependencies: removed }),
    ...unblocked(state, command, task, { settled }),
  ];
}

/** Says that a task is ready, if a change ends its last blocker. */
export function unblocked(state: TeamState, command: CommandEnvelope, task: TaskRecord, change: Change): TeamEvent[] {
  return endsBlock(state, task, change) ? [event(command, 'task:unblocked', { taskId: task.id })] : [];
}

/** Every dependency must exist; a task cannot wait for a deleted one. */
export function requireDependencies(state: TeamState, ids: readonly string[]): void {
  for (const id of ids) requireTask(state, id);
}

/** The tasks that become unblocked when `task` is completed or deleted. */
export function unblockedBy(state: TeamState, command: CommandEnvelope, task: TaskRecord): TeamEvent[] {
  const dependents = dependentsOf(state, task.id).flatMap((id) => {
    const dependent = state.tasks.get(id);
    const change = { settled: 1, freed: [task.id] };
    return dependent && isOpen(dependent, task) ? unblocked(state, command, dependent, change) : [];
  });
  return [...dependents, ...freeFiles(state, command, [task])];
}

/** A task with the policy `fail` fails at once if a dependency failed earlier: the order must not matter. */
export function failsAtOnce(
  state: TeamState,
  command: CommandEnvelope,
  task: Pick<TaskRecord, 'id' | 'dependencies' | 'onDependencyFailure'>,
): TeamEvent[] {
  const failed = task.dependencies.find((id) => state.tasks.get(id)?.status === 'failed');
  if (failed === undefined || task.onDependencyFailure !== 'fail') return [];
  return [failsToo(command, task.id, failed), ...consequencesOfFailure(state, command, task.id)];
}

/** What a failure does to dependents: by their own policy they fail too, go ahead, or stay blocked. */
export function consequencesOfFailure(state: TeamState, command: CommandEnvelope, failedId: string): TeamEvent[] {
  const events: TeamEvent[] = [];
  const failing = new Set([failedId]);
  /** How many open dependencies of each task failed that it goes ahead without. */
  const settled = new Map<TaskRecord, number>();
  for (const id of failing) {
    for (const dependentId of dependentsOf(state, id)) {
      const dependent = state.tasks.get(dependentId);
      if (dependent?.status !== 'pending' || failing.has(dependentId)) continue;
      if (dependent.onDependencyFailure === 'fail') {
        failing.add(dependentId);
        events.push(failsToo(command, dependentId, id));
      } else if (dependent.onDependencyFailure === 'proceed') {
        settled.set(dependent, (settled.get(dependent) ?? 0) + 1);
      }
    }
  }
  const freed = [failedId];
  const ready = [...settled].flatMap(([task, count]) => unblocked(state, command, task, { settled: count, freed }));
  const failed = state.tasks.get(failedId);
  return [...events, ...ready, ...(failed ? freeFiles(state, command, [failed]) : [])];
}

function failsToo(command: CommandEnvelope, taskId: string, dependency: string): TeamEvent {
  return event(command, 'task:failed', { taskId, reason: `its dependency, task ${dependency}, failed` });
}

/** The cycle that these new dependencies would close, from the task back to itself. */
function findCycle(state: TeamState, taskId: string, added: readonly string[]): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [...added];
  for (const id of added) cameFrom.set(id, taskId);
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    if (at === taskId) return pathTo(cameFrom, taskId);
    for (const next of state.tasks.get(at)?.dependencies ?? []) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      queue.push(next);
    }
  }
  return undefined;
}

function pathTo(cameFrom: Map<string, string>, taskId: string): string[] {
  const path = [taskId];
  let at = taskId;
  do {
    at = cameFrom.get(at) as string;
    path.unshift(at);
  } while (at !== taskId);
  return path;
}

function editable(
  state: TeamState,
  command: CommandOf<'task.addDependencies' | 'task.removeDependencies'>,
): TaskRecord {
  requireOpenTeam(state);
  requireActor(state, command.by);
  const task = requireTask(state, command.taskId);
  requireFresh(task, command);
  if (task.status !== 'pending') {
    throw new TeamError(
      'conflict',
      `The dependencies of ${describeTask(state, task.id)} cannot change now: release or reopen it first`,
    );
  }
  return task;
}

function unique(ids: readonly string[]): string[] {
  return [...new Set(ids)];
}
