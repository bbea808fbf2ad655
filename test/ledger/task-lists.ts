import { onTestFinished } from 'vitest';
import type { HookResult, TaskCompletedHookContext, TaskCreatedHookContext } from '../../src/core/hook.ts';
import type { SharedTask } from '../../src/core/task.ts';
import type { TaskListEvents } from '../../src/ledger/task-events.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import { createTeam, TEAM } from './commands.ts';
import { openLedger } from './places.ts';
import type { Place } from './places.ts';
import { watchedJournal } from './watched-journal.ts';

const EVENTS: readonly (keyof TaskListEvents)[] = [
  'task:created',
  'task:claimed',
  'task:updated',
  'task:completed',
  'task:failed',
  'task:released',
  'task:unblocked',
];

/** The result of a gate. */
export function verdict(exitCode: HookResult['exitCode'], output: Partial<HookResult> = {}): HookResult {
  return { exitCode, stdout: '', stderr: '', duration: 1, timedOut: false, ...output };
}

type Gate = (context: TaskCompletedHookContext) => HookResult | Promise<HookResult>;

type CreationGate = (context: TaskCreatedHookContext) => HookResult | Promise<HookResult>;

/** Options of `openTaskList`. */
export interface ListOptions {
  readonly gate?: Gate;
  readonly creationGate?: CreationGate;
  readonly now?: () => number;
}

/** Opens the task list of an existing team, on a watched journal. */
export async function openTaskList(place: Place, options: ListOptions = {}) {
  const journal = watchedJournal(place.open());
  const errors: unknown[] = [];
  const ledger = openLedger(journal, { now: options.now ?? Date.now, onError: (error) => void errors.push(error) });
  await createTeam(ledger);
  const { gate = () => verdict(0), creationGate } = options;
  const asked = {
    executeTaskCompletedHook: async (context: TaskCompletedHookContext) => gate(context),
    ...(creationGate && { executeTaskCreatedHook: async (context: TaskCreatedHookContext) => creationGate(context) }),
  };
  const tasks = new SharedTaskList(ledger, options.gate || creationGate ? { gate: asked } : {});
  onTestFinished(() => tasks.close());
  const create = (title: string, input: object = {}) => tasks.createTask(TEAM, 'lead', { title, ...input });
  const get = async (id: string) => (await tasks.getTask(TEAM, id)) as SharedTask;
  return { place, journal, ledger, tasks, create, get, errors };
}

/** Collects all events of the list, in order. */
export function listen(tasks: SharedTaskList): string[] {
  const heard: string[] = [];
  for (const name of EVENTS) tasks.on(name, ({ id, status }) => void heard.push(`${name} ${id} ${status}`));
  return heard;
}
