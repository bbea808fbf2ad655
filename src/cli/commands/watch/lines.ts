import type { Client } from '../../../client/client.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { eventLines, noteTitles } from '../../show/event-lines.ts';
import type { Screen } from '../../show/screen.ts';
import { print, toJson } from '../../show/write.ts';

/** What to follow, and how to print it. */
export interface Following {
  readonly teamId: string;
  readonly after: number;
  /** The last batch of a closed team. */
  readonly upTo?: number;
  readonly json: boolean;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/** Prints what happens to a team: one line per event, or as JSON one line per batch. Ends when the team is closed. */
export async function printBatches(client: Client, following: Following): Promise<void> {
  const { teamId, after, upTo = Infinity, json, screen, signal } = following;
  if (after >= upTo) return;
  const titles = json ? new Map<string, string>() : await loadTitles(client, teamId, signal);
  for await (const { seq, events } of client.subscribe(teamId, { after, signal })) {
    noteTitles(titles, events);
    if (json) print(toJson({ teamId, seq, events }, undefined));
    else for (const line of eventLines({ seq, events }, screen, titles)) print(line);
    if (upTo === Infinity ? events.some(({ type }) => type === 'team:closed') : seq >= upTo) return;
  }
  signal.throwIfAborted();
}

/** How many batches are read at a time, from the end backwards. */
const PAGE = 500;

/** Prints the last `most` events of a team up to a batch: lines, or as JSON the batches. */
export async function printLast(
  client: Client,
  most: number,
  { teamId, upTo, json, screen, signal }: Omit<Following, 'after'> & { readonly upTo: number },
): Promise<void> {
  const titles = json ? new Map<string, string>() : await loadTitles(client, teamId, signal);
  const lines: string[] = [];
  for (let end = upTo; end > 0 && lines.length < most;) {
    const after = Math.max(0, end - PAGE);
    const batches = await listBatches(client, { teamId, after, upTo: end, signal });
    const told = batches.flatMap(({ seq, events }) =>
      json ? [toJson({ teamId, seq, events }, undefined)] : eventLines({ seq, events }, screen, titles),
    );
    lines.unshift(...told);
    end = after;
  }
  for (const line of most > 0 ? lines.slice(-most) : []) print(line);
}

/** All batches between two numbers; the daemon returns fewer at a time when they are long. */
async function listBatches(
  client: Client,
  { teamId, after, upTo, signal }: { teamId: string; after: number; upTo: number; signal: AbortSignal },
): Promise<ResultOf<'event.list'>> {
  const batches: ResultOf<'event.list'> = [];
  for (let last = after; last < upTo; last = batches.at(-1)?.seq ?? upTo) {
    const more = await client.call('event.list', { teamId, after: last, limit: upTo - last }, { signal });
    if (more.length === 0) break;
    batches.push(...more);
  }
  return batches;
}

async function loadTitles(client: Client, teamId: string, signal: AbortSignal): Promise<Map<string, string>> {
  const tasks = await client.call('task.list', { teamId, limit: 10_000 }, { signal });
  return new Map(tasks.map(({ id, title }) => [id, title]));
}
