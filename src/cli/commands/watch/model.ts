import type { Client } from '../../../client/client.ts';
import type { EventOf, TeamEvent } from '../../../core/event.ts';
import type { ResultOf } from '../../../operations/index.ts';

/** A task, as far as a watcher sees it. */
export type Task = ResultOf<'task.show'>;

/** Where a team stands. */
export type Status = ResultOf<'team.status'>;

/** A message that went by. */
export type Mail = EventOf<'message:sent'>;

/** A team as it is shown: what the daemon said last, never what we worked out ourselves. */
export interface Model {
  status: Status;
  readonly tasks: Map<string, Task>;
  /** All that was ever asked: the waits for an answer are no work. */
  requests: ResultOf<'request.list'>;
  /** The newest last. */
  mail: Mail[];
}

const MAIL = 100;

/** How far back the first look goes for messages. */
const BATCHES = 300;

/** So many changed tasks are fetched one by one; more, and the whole list is cheaper. */
const FEW = 10;

/** The team as it is now. */
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

/** The tasks that events are about, and those that wait for them. */
export function touchedTasks(model: Model, events: readonly TeamEvent[]): string[] {
  return events.flatMap((event) => {
    if (!('taskId' in event) || event.taskId === undefined || event.type === 'usage:recorded') return [];
    return [event.taskId, ...(model.tasks.get(event.taskId)?.blocks ?? [])];
  });
}

/** Takes note of the messages among events. */
export function noteMail(model: Model, events: readonly TeamEvent[]): void {
  model.mail = [...model.mail, ...mailOf(events)].slice(-MAIL);
}

/** Asks the daemon how the team and these tasks are now. */
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
  // There may be many, and they change only when somebody asks or answers.
  if (waitingOf(model) !== waited) model.requests = await client.call('request.list', { teamId }, {});
}

function waitingOf({ status }: Model): string {
  return status.pendingRequests.map(({ id }) => id).join(' ');
}

function mailOf(events: readonly TeamEvent[]): Mail[] {
  return events.filter((event) => event.type === 'message:sent');
}
