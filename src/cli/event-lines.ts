import type { EventOf, TeamEvent } from '../core/event.ts';
import { troublesTold } from '../core/hook-trouble.ts';
import type { Metadata } from '../core/json.ts';
import type { Usage } from '../core/usage.ts';
import { paint } from './screen.ts';
import type { Screen, Style } from './screen.ts';
import { clean, cut, widthOf } from './text.ts';
import { taskName, taskNames } from './words.ts';

/** What one commit recorded, as the daemon hands it out. */
export interface Batch {
  readonly seq: number;
  readonly events: readonly { readonly type: string; readonly at: number; readonly by: string }[];
}

/** What is known of tasks besides what an event says: their titles, by id. */
export type Titles = ReadonlyMap<string, string>;

/** One line for each event of a batch. */
export function eventLines(batch: Batch, screen: Screen, titles: Titles = new Map()): string[] {
  return batch.events.filter(isTold).map((event) => {
    const head = `${showClock(event.at, screen)}  ${clean(event.by)}`;
    const { text, style } = describeEvent(event as TeamEvent, titles);
    const room = screen.columns - widthOf(head) - 2;
    return `${paint(screen, 'dim', head)}  ${paint(screen, style, fit(clean(text), room, event))}\n`;
  });
}

/** So much of a text stands in a line that no screen bounds: what a test run said can be 32 KB, and comes with each rejection. */
const LONG = 200;

function fit(text: string, room: number, event: Batch['events'][number]): string {
  if (room !== Infinity || widthOf(text) <= LONG) return cut(text, room);
  return `${cut(text, LONG)} (all of it: ${whereWhole(event)})`;
}

function whereWhole(event: Batch['events'][number]): string {
  if (event.type === 'request:raised' || event.type === 'plan:submitted') return 'troupe approve';
  return 'taskId' in event ? `troupe task show ${clean(String(event.taskId))}` : 'troupe event list --json';
}

/** What happens with every turn and says nothing new is left out: turns of programs, which use no tokens, and status alone. Why a member waits is news. */
function isTold(event: Batch['events'][number]): boolean {
  const { type, usage, ...more } = event as Partial<EventOf<'usage:recorded'>> & { metadata?: Metadata };
  if (type === 'usage:recorded' && usage) return usage.inputTokens + usage.outputTokens + (usage.costUsd ?? 0) > 0;
  const changes = ['role', 'model', 'color', 'cwd', 'backendType', 'subscriptions', 'budget'];
  if (event.type !== 'teammate:changed' || changes.some((name) => name in more)) return true;
  return reasonOf(more.metadata) !== undefined;
}

/** The time of day for people, the whole moment for files. */
function showClock(at: number, screen: Screen): string {
  if (!screen.isTerminal) return new Date(at).toISOString();
  return new Date(at).toTimeString().slice(0, 8);
}

/** What an event says, in a few words that follow the name of who did it. */
export function describeEvent(event: TeamEvent, titles: Titles = new Map()): { text: string; style?: Style } {
  const task = (id: string): string =>
    titles.has(id) ? `task ${taskName(id)} (${titles.get(id)})` : `task ${taskName(id)}`;
  const who = (memberId: string): string => (memberId === event.by ? '' : `${memberId} `);
  const because = (reason: string | undefined): string => (reason ? `: ${reason}` : '');
  switch (event.type) {
    case 'team:created':
      return { text: `created the team ${event.name}, led by ${event.leadId}` };
    case 'team:updated':
      return describeTeamChange(event);
    case 'team:closed':
      return { text: 'closed the team', style: 'yellow' };
    case 'teammate:joined':
      return { text: `added ${event.memberId}, ${event.role}`, style: 'green' };
    case 'teammate:changed':
      return describeChange(event, who(event.memberId));
    case 'teammate:idle':
      return { text: `${who(event.memberId)}is idle${because(event.reason)}`, style: 'dim' };
    case 'teammate:stopped':
      return { text: `${who(event.memberId)}stopped${because(event.reason)}`, style: 'red' };
    case 'task:created':
      return { text: `added task ${taskName(event.taskId)}: ${event.title}` };
    case 'task:updated':
      return { text: `${event.unjudged === false ? 'let pass' : 'changed'} ${task(event.taskId)}` };
    case 'task:assigned':
      if (event.assigneeId === null) return { text: `made ${task(event.taskId)} free for anybody` };
      return { text: `reserved ${task(event.taskId)} for ${event.assigneeId}` };
    case 'task:claimed':
      return { text: `${who(event.memberId)}claimed ${task(event.taskId)}`, style: 'yellow' };
    case 'task:released':
      return { text: `${who(event.memberId)}gave ${task(event.taskId)} back${because(event.reason)}` };
    case 'task:rejected':
      return { text: `${judge(event)}sent ${task(event.taskId)} back: ${event.feedback}`, style: 'yellow' };
    case 'task:completed':
      return { text: `completed ${task(event.taskId)}${because(event.result)}`, style: 'green' };
    case 'task:failed':
      return { text: `failed ${task(event.taskId)}: ${event.reason}`, style: 'red' };
    case 'task:reopened':
      return { text: `reopened ${task(event.taskId)}${because(event.reason)}` };
    case 'task:deleted':
      return { text: `deleted ${task(event.taskId)}` };
    case 'task:unblocked':
      return { text: `opened the way for ${task(event.taskId)}`, style: 'cyan' };
    case 'task:dependencies-added':
      return { text: `made ${task(event.taskId)} wait for ${taskNames(event.dependencies)}` };
    case 'task:dependencies-removed':
      return { text: `let ${task(event.taskId)} no longer wait for ${taskNames(event.dependencies)}` };
    case 'message:sent':
      return { text: `to ${event.copies.map(({ toId }) => toId).join(', ')}: ${event.content}`, ...urgency(event) };
    case 'message:delivered':
      return { text: `${mails(event.messageIds)} delivered to ${event.memberId}`, style: 'dim' };
    case 'message:acknowledged':
      return { text: `${who(event.memberId)}has ${mails(event.messageIds)}`, style: 'dim' };
    case 'message:read':
      return { text: `${who(event.memberId)}read ${mails(event.messageIds)}`, style: 'dim' };
    case 'shutdown:requested':
      return { text: `asked ${event.memberId} to stop${because(event.reason)}`, style: 'yellow' };
    case 'shutdown:approved':
      return { text: `${who(event.memberId)}agreed to stop` };
    case 'shutdown:rejected':
      return { text: `${who(event.memberId)}will not stop${because(event.feedback)}`, style: 'yellow' };
    case 'plan:submitted':
      return {
        text: `${who(event.memberId)}handed in a plan (troupe approve ${event.memberId})${because(event.content)}`,
        style: 'yellow',
      };
    case 'plan:approved':
      return { text: `approved the plan of ${event.memberId}`, style: 'green' };
    case 'plan:rejected':
      return { text: `rejected the plan of ${event.memberId}${because(event.feedback)}`, style: 'red' };
    case 'teammate:placed':
      return { text: `starts ${event.memberId} on ${event.hostId}`, style: 'dim' };
    case 'request:raised':
      return {
        text: `${who(event.memberId)}needs a person (troupe approve ${event.memberId}): ${event.content}`,
        style: 'yellow',
      };
    case 'request:answered':
      return { text: `said ${event.approved ? 'yes' : 'no'} to ${event.requestId}${because(event.feedback)}` };
    case 'note:added':
      return { text: `noted: ${event.text}` };
    case 'note:updated':
      return { text: `changed note ${event.noteId}` };
    case 'note:removed':
      return { text: `removed note ${event.noteId}` };
    case 'hook:registered':
      return { text: `registered a ${event.hook.type} hook: ${event.hook.command}` };
    case 'hook:removed':
      return { text: `removed the ${event.hookType} hooks` };
    case 'usage:recorded':
      return { text: `${who(event.memberId)}${describeUsage(event.usage)}`, style: 'dim' };
    default:
      // A newer daemon may tell of things that this command line does not know.
      return { text: (event as { type: string }).type, style: 'dim' };
  }
}

function describeTeamChange({ leadId, metadata }: EventOf<'team:updated'>): { text: string; style?: Style } {
  const troubles = troublesTold(metadata);
  if (troubles.length > 0) return { text: `says: ${troubles.join('. ')}`, style: 'yellow' };
  return { text: `changed the team${leadId === undefined ? '' : `; ${leadId} leads it now`}` };
}

/** Who sends work back: a person does it under their own name, a gate under that of the daemon. */
function judge({ by, gate }: EventOf<'task:rejected'>): string {
  if (gate !== undefined) return `the gate ${gate} `;
  return by === '@system' ? 'a gate ' : '';
}

function describeChange(
  { memberId, status, metadata }: Extract<TeamEvent, { type: 'teammate:changed' }>,
  who: string,
): { text: string; style?: Style } {
  if (status !== undefined) return { text: `${who}is ${status}`, style: 'dim' };
  if (metadata?.['waiting'] === null) return { text: `${who}no longer waits`, style: 'dim' };
  const reason = reasonOf(metadata);
  if (reason === undefined) return { text: `changed ${memberId}`, style: 'dim' };
  return { text: `${who}waits: ${reason}`, style: 'yellow' };
}

function reasonOf(metadata: Metadata | undefined): string | undefined {
  const waiting = metadata?.['waiting'];
  return typeof waiting === 'object' && waiting !== null && 'reason' in waiting ? String(waiting['reason']) : undefined;
}

/** Programs that count no tokens still do turns. */
function describeUsage({ inputTokens, outputTokens, turns }: Usage): string {
  const tokens = inputTokens + outputTokens;
  if (tokens > 0) return `used ${tokens} tokens`;
  return turns === 1 ? 'did a turn' : `did ${turns} turns`;
}

function urgency({ priority }: { priority: string }): { style?: Style } {
  return priority === 'urgent' ? { style: 'red' } : {};
}

function mails(ids: readonly string[]): string {
  return ids.length === 1 ? '1 message' : `${ids.length} messages`;
}
