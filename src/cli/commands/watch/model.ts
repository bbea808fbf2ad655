import type { Client } from '../../../client/client.ts';
import type { EventOf, TeamEvent } from '../../../core/event.ts';
import { waitsToLand } from '../../../core/queue-view.ts';
import type { ResultOf } from '../../../operations/index.ts';

/** A task as the view shows it. */
export type Task = ResultOf<'task.show'>;

/** The status of a team. */
export type Status = ResultOf<'team.status'>;

/** A message that was sent. */
export type Mail = EventOf<'message:sent'>;

/** A team as it is shown. It holds only what the daemon said, nothing computed here. */
export interface Model {
  status: Status;
  readonly tasks: Map<string, Task>;
  /** All requests ever made, because waiting for an answer is not working time. */
  requests: ResultOf<'request.list'>;
  /** The newest last. */
  mail: Mail[];
}

const MAIL = 100;

/** How many batches the first look searches for messages. */
const BATCHES = 300;

/** Up to this many changed tasks are fetched one by one; for more, the whole list is cheaper. */
const FEW = 10;

/** Loads the current state of a team. */
export async function loadModel(client: Client, teamId: string): Promise<Model> {
  const status = await client.call('team.status', { teamId }, {});
  const after = Math.max(0, status.seq - BATCHES);
  const [tasks, requests, batches] = await Promise.all([
    client.call('task.list', { teamId, limit: 10_000 }, {}),
    client.call('request.list', { teamId }, {}),
    client.call('event.list', { teamId, after, limit: BATCHES }, {}),
  ]);
  const mail = batches.filter(({ seq }) => seq <= status.seq).flatMap(({ events }) => mailOf(events as TeamEvent[]));
  return { status, tasks: new Map(tasks.map((task) => [task.id, task])), requests, mail: mail.slice(-MAIL) };
}

/** The tasks that events are about, the tasks that depend on them, and those whose place in the merge queue changes. */
export function touchedTasks(model: Model, events: readonly TeamEvent[]): string[] {
  const isQueueMoved = events.some(({ type }) => type.startsWith('work:') || type.startsWith('landing:'));
  const queued = [...model.tasks.values()].filter(waitsToLand).map(({ id }) => id);
  const own = events.flatMap((event) => {
    if (!('taskId' in event) || event.taskId === undefined || event.type === 'usage:recorded') return [];
    return [event.taskId, ...(model.tasks.get(event.taskId)?.blocks ?? [])];
  });
  return isQueueMoved ? [...own, ...queued] : own;
}

/** Adds the messages among events to the model. */
export function noteMail(model: Model, events: readonly TeamEvent[]): void {
  model.mail = [...model.mail, ...mailOf(events)].slice(-MAIL);
}

/** Fetches the current state of the team and of these tasks. */
export async function refreshModel(client: Client, model: Model, taskIds: ReadonlySet<string>): Promise<void> {
  const teamId = model.status.team.id;
  const status = client.call('team.status', { teamId }, {});
  if (taskIds.size > FEW) {
    const tasks = await client.call('task.list', { teamId, limit: 10_000 }, {});
    model.tasks.clear();
    for (const task of tasks) model.tasks.set(task.id, task);
  } else {
    const tasks = await Promise.all([...taskIds].map((taskId) => client.call('task.show', { teamId, taskId }, {})));
    for (const task of tasks) {
      if (task.status === 'deleted') model.tasks.delete(task.id);
      else model.tasks.set(task.id, task);
    }
  }
  const waited = waitingOf(model);
  model.status = await status;
  // There may be many requests, and they change only when somebody asks or answers.
  if (waitingOf(model) !== waited) model.requests = await client.call('request.list', { teamId }, {});
}

function waitingOf({ status }: Model): string {
  return status.pendingRequests.map(({ id }) => id).join(' ');
}

function mailOf(events: readonly TeamEvent[]): Mail[] {
  return events.filter((event) => event.type === 'message:sent');
}
