import { USER } from '../../core/actor.ts';
import { parse } from '../../core/parse.ts';
import type { TaskRecord, TeamState } from '../../core/state.ts';
import { CreateTaskInput } from '../../core/task.ts';
import type { NewCommand } from '../../ledger/ledger.ts';
import { budgetOf } from './budget-entries.ts';
import type { TeamFile } from './schema.ts';

/**
 * A task that the file reserves for a member was freed when the member stopped, so that it would not wait forever. When
 * the member returns, it is reserved again in the same step, before anyone can take it. A task with another holder or
 * assignee stays as it is.
 */
export function assignCommands(state: TeamState, file: TeamFile, back: ReadonlySet<string>): NewCommand[] {
  const numbers = numbersOf(state);
  return keyed(file).flatMap(({ key, assign }): NewCommand[] => {
    const task = state.tasks.get(numbers.get(key) ?? '');
    if (assign === undefined || !back.has(assign)) return [];
    if (task?.status !== 'pending' || task.assigneeId !== undefined) return [];
    return [{ type: 'task.assign', by: USER, taskId: task.id, assigneeId: assign }];
  });
}

/** The entries of a file for tasks that the team has, with the task. */
export function standingTasks(
  state: TeamState,
  file: TeamFile,
): { readonly task: TaskRecord; readonly entry: TeamFile['tasks'][number] }[] {
  const numbers = numbersOf(state);
  return keyed(file).flatMap(({ key, ...entry }) => {
    const task = state.tasks.get(numbers.get(key) ?? '');
    return task ? [{ task, entry }] : [];
  });
}

/** The tasks of a file with their keys, by which they are recognized. */
function keyed(file: TeamFile): (TeamFile['tasks'][number] & { key: string })[] {
  return file.tasks.map((task, i) => ({ ...task, key: task.id ?? `task ${i + 1}` }));
}

/** The team's tasks that came from the file, by key. */
function numbersOf(state: TeamState): Map<string, string> {
  const numbers = new Map<string, string>();
  for (const task of state.tasks.values()) {
    const key = task.metadata?.['key'];
    if (typeof key === 'string') numbers.set(key, task.id);
  }
  return numbers;
}

/** Creates tasks in the order of the file, so that a task's number is its position. */
export function taskCommands(state: TeamState, file: TeamFile): NewCommand[] {
  const numbers = numbersOf(state);
  let next = state.nextTask;
  const missing = keyed(file).filter(({ key }) => !numbers.has(key));
  for (const { key } of missing) numbers.set(key, String(next++));
  const creates = missing.map((task): NewCommand => {
    const input = parse(CreateTaskInput, {
      title: task.title,
      description: task.description ?? '',
      ...(task.priority && { priority: task.priority }),
      ...(task.assign !== undefined && { assigneeId: task.assign }),
      ...(task.files && { files: task.files }),
      ...(task.onDependencyFailure && { onDependencyFailure: task.onDependencyFailure }),
      ...(task.budget && { budget: budgetOf(task.budget) }),
      metadata: { key: task.key },
    });
    return { type: 'task.create', by: USER, ...input };
  });
  // A file may refer to a task before it describes it, so dependencies come after all tasks.
  const edges = missing.flatMap((task): NewCommand[] => {
    const dependencies = (task.needs ?? []).map((need) => numbers.get(need) as string);
    if (dependencies.length === 0) return [];
    return [{ type: 'task.addDependencies', by: USER, taskId: numbers.get(task.key) as string, dependencies }];
  });
  return [...creates, ...edges];
}
