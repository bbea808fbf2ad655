import { wordEvent } from '../../core/event-words.ts';
import type { EventOf, TeamEvent } from '../../core/event.ts';
import type { Metadata } from '../../core/json.ts';
import { waitingOf } from '../../core/waiting.ts';
import { paint } from './screen.ts';
import type { Screen, Style } from './screen.ts';
import { clean, cut, widthOf } from './text.ts';
import { answerCommand, taskName } from './words.ts';

/** The events of one commit, as the daemon returns them. */
export interface Batch {
  readonly seq: number;
  readonly events: readonly { readonly type: string; readonly at: number; readonly by: string }[];
}

/** The titles of tasks, by id, which events do not contain. */
export type Titles = ReadonlyMap<string, string>;

/** Adds the titles of tasks that are new or renamed in a batch, before its lines are made. */
export function noteTitles(titles: Map<string, string>, events: Batch['events']): void {
  for (const event of events as readonly TeamEvent[]) {
    if (event.type === 'task:created') titles.set(event.taskId, event.title);
    if (event.type === 'task:updated' && event.title !== undefined) titles.set(event.taskId, event.title);
  }
}

/** One line for each event of a batch. */
export function eventLines(batch: Batch, screen: Screen, titles: Titles = new Map()): string[] {
  return batch.events.filter(isTold).map((event) => {
    const head = `${showClock(event.at, screen)}  ${clean(event.by)}`;
    const { text, style } = describeEvent(event as TeamEvent, titles);
    const room = screen.columns - widthOf(head) - 2;
    return `${paint(screen, 'dim', head)}  ${paint(screen, style, fit(clean(text), room, event))}\n`;
  });
}

/** The longest text in a line without a screen width. A test run can print 32 KB, and each rejection repeats it. */
const LONG = 200;

function fit(text: string, room: number, event: Batch['events'][number]): string {
  if (room !== Infinity || widthOf(text) <= LONG) return cut(text, room);
  return `${cut(text, LONG)} (all of it: ${whereWhole(event)})`;
}

function whereWhole(event: Batch['events'][number]): string {
  if (event.type === 'request:raised' || event.type === 'plan:submitted') return 'troupe approve';
  return 'taskId' in event ? `troupe task show ${clean(String(event.taskId))}` : 'troupe event list --json';
}

/**
 * Leaves out events that come with every turn and say nothing new: turns of programs, which use no tokens, and mere
 * status changes. The reason why a member waits is shown.
 */
function isTold(event: Batch['events'][number]): boolean {
  const { type, usage, ...more } = event as Partial<EventOf<'usage:recorded'>> & { metadata?: Metadata };
  if (type === 'usage:recorded' && usage) return usage.inputTokens + usage.outputTokens + (usage.costUsd ?? 0) > 0;
  const changes = ['role', 'model', 'color', 'cwd', 'backendType', 'budget', 'interrupted'];
  if (event.type !== 'teammate:changed' || changes.some((name) => name in more)) return true;
  return waitingOf(more) !== undefined;
}

/** The time of day on a terminal, the full timestamp in files. */
function showClock(at: number, screen: Screen): string {
  if (!screen.isTerminal) return new Date(at).toISOString();
  return new Date(at).toTimeString().slice(0, 8);
}

const STYLES = { good: 'green', bad: 'red', notable: 'yellow', quiet: 'dim' } as const;

/** Describes an event in a few words that follow the actor's name. */
export function describeEvent(event: TeamEvent, titles: Titles = new Map()): { text: string; style?: Style } {
  const words = wordEvent(event, (id) => {
    const title = titles.get(id);
    return title === undefined ? `task ${taskName(id)}` : `task ${taskName(id)} (${title})`;
  });
  const { actor, text, reason, content, tone } = words;
  const who = actor === event.by ? '' : `${actor} `;
  const said = [`${who}${text}${answerWith(event)}`, reason, content].filter(Boolean).join(': ');
  return { text: said, ...(tone && { style: STYLES[tone] }) };
}

/** How a person answers a request. */
function answerWith(event: TeamEvent): string {
  if (event.type === 'request:raised') return ` (${answerCommand(event)} ${event.memberId})`;
  return event.type === 'plan:submitted' ? ` (${answerCommand({})} ${event.memberId})` : '';
}
