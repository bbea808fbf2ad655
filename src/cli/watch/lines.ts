import type { Client } from '../../client/client.ts';
import { eventLines } from '../event-lines.ts';
import type { Screen } from '../screen.ts';
import { print, toJson } from '../write.ts';

/** What to follow, and how to write it. */
export interface Following {
  readonly teamId: string;
  readonly after: number;
  /** The last batch there will be, of a team that is closed. */
  readonly upTo?: number;
  readonly json: boolean;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/** Writes what happens to a team: one line per event, or as JSON one line per batch. Ends when the team is closed. */
export async function printBatches(client: Client, following: Following): Promise<void> {
  const { teamId, after, upTo = Infinity, json, screen, signal } = following;
  if (after >= upTo) return;
  const titles = new Map<string, string>();
  if (!json) {
    const tasks = await client.call('task.list', { teamId, limit: 10_000 }, { signal });
    for (const { id, title } of tasks) titles.set(id, title);
  }
  for await (const { seq, events } of client.subscribe(teamId, { after, signal })) {
    for (const event of events) {
      if (event.type === 'task:created') titles.set(event.taskId, event.title);
      if (event.type === 'task:updated' && event.title !== undefined) titles.set(event.taskId, event.title);
    }
    if (json) print(toJson({ teamId, seq, events }, undefined));
    else for (const line of eventLines({ seq, events }, screen, titles)) print(line);
    if (upTo === Infinity ? events.some(({ type }) => type === 'team:closed') : seq >= upTo) return;
  }
  signal.throwIfAborted();
}
