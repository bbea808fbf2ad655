import type { EventOf, TeamEvent } from './event.ts';
import { troublesTold } from './hook-trouble.ts';
import type { Usage } from './usage.ts';
import { waitingOf } from './waiting.ts';

/** An event as text, for display. `${actor} ${text}` is a sentence. */
export interface EventWords {
  /** Who acted: a member, `@user`, `@system`, or a gate by its name. Or the task that something happened to. */
  readonly actor: string;
  readonly text: string;
  /** A short reason; follows after a colon. */
  readonly reason?: string | undefined;
  /** The message or result, which may be long. */
  readonly content?: string | undefined;
  readonly tone?: 'good' | 'bad' | 'notable' | 'quiet';
}

type EventType = TeamEvent['type'];
type NameTask = (id: string) => string;

/** A text for every event: a new one does not compile without. */
const WORDS: { readonly [T in EventType]: (event: EventOf<T>, task: NameTask) => EventWords } = {
  'team:created': ({ by, name, leadId }) => ({ actor: by, text: `created the team ${name}, led by ${leadId}` }),
  'team:updated': ({ by, leadId, metadata }) => {
    const troubles = troublesTold(metadata);
    if (troubles.length > 0) return { actor: by, text: 'says', reason: troubles.join('. '), tone: 'notable' };
    return { actor: by, text: `changed the team${leadId === undefined ? '' : `; ${leadId} leads it now`}` };
  },
  'team:closed': ({ by }) => ({ actor: by, text: 'closed the team', tone: 'notable' }),
  'hook:registered': ({ by, hook }) => ({ actor: by, text: `registered a ${hook.type} hook`, reason: hook.command }),
  'hook:removed': ({ by, hookType }) => ({ actor: by, text: `removed the ${hookType} hooks` }),

  'teammate:joined': ({ by, memberId, role }) => ({ actor: by, text: `added ${memberId}, ${role}`, tone: 'good' }),
  'teammate:changed': wordChange,
  'teammate:placed': ({ by, memberId, hostId }) => ({
    actor: by,
    text: `starts ${memberId} on ${hostId}`,
    tone: 'quiet',
  }),
  'teammate:idle': ({ memberId, reason }) => ({ actor: memberId, text: 'is idle', reason, tone: 'quiet' }),
  'teammate:stopped': ({ memberId, reason }) => ({ actor: memberId, text: 'stopped', reason, tone: 'bad' }),

  'task:created': ({ by, taskId, title }) => ({ actor: by, text: `added task #${taskId}`, reason: title }),
  'task:updated': ({ by, taskId, unjudged, withheld }, task) => {
    if (unjudged === false) return { actor: by, text: `let ${task(taskId)} pass` };
    if (withheld === null) return { actor: by, text: `made ${task(taskId)} free again` };
    if (withheld !== undefined) return { actor: by, text: `withholds ${task(taskId)}`, reason: withheld };
    return { actor: by, text: `changed ${task(taskId)}` };
  },
  'task:assigned': ({ by, taskId, assigneeId }, task) => ({
    actor: by,
    text: assigneeId === null ? `made ${task(taskId)} free for anybody` : `reserved ${task(taskId)} for ${assigneeId}`,
  }),
  'task:claimed': ({ memberId, taskId }, task) => ({
    actor: memberId,
    text: `claimed ${task(taskId)}`,
    tone: 'notable',
  }),
  'task:released': ({ memberId, taskId, reason }, task) => ({
    actor: memberId,
    text: `gave ${task(taskId)} back`,
    reason,
  }),
  'task:rejected': (event, task) => ({
    actor: judgeOf(event),
    text: `sent ${task(event.taskId)} back`,
    content: event.feedback,
    tone: 'notable',
  }),
  'task:completed': ({ by, memberId = by, taskId, result }, task) => ({
    actor: memberId,
    text: `completed ${task(taskId)}`,
    content: result,
    tone: 'good',
  }),
  'task:failed': ({ by, taskId, reason }, task) => ({ actor: by, text: `failed ${task(taskId)}`, reason, tone: 'bad' }),
  'task:reopened': ({ by, taskId, reason }, task) => ({ actor: by, text: `reopened ${task(taskId)}`, reason }),
  'task:deleted': ({ by, taskId }, task) => ({ actor: by, text: `deleted ${task(taskId)}` }),
  'task:unblocked': ({ taskId }, task) => ({ actor: task(taskId), text: 'is now ready', tone: 'notable' }),
  'task:dependencies-added': ({ by, taskId, dependencies }, task) => ({
    actor: by,
    text: `made ${task(taskId)} wait for ${list(dependencies)}`,
  }),
  'task:dependencies-removed': ({ by, taskId, dependencies }, task) => ({
    actor: by,
    text: `let ${task(taskId)} no longer wait for ${list(dependencies)}`,
  }),

  'message:sent': ({ by, copies, content, priority }) => ({
    actor: by,
    text: `wrote to ${copies.map(({ toId }) => toId).join(', ')}`,
    content,
    ...(priority === 'urgent' && { tone: 'bad' }),
  }),
  'message:delivered': ({ memberId, messageIds }) => ({
    actor: memberId,
    text: `received ${mails(messageIds)}`,
    tone: 'quiet',
  }),
  'message:acknowledged': ({ memberId, messageIds }) => ({
    actor: memberId,
    text: `acknowledged ${mails(messageIds)}`,
    tone: 'quiet',
  }),
  'message:read': ({ memberId, messageIds }) => ({ actor: memberId, text: `read ${mails(messageIds)}`, tone: 'quiet' }),

  'shutdown:requested': ({ by, memberId, reason }) => ({
    actor: by,
    text: `asked ${memberId} to stop`,
    reason,
    tone: 'notable',
  }),
  'shutdown:approved': ({ memberId }) => ({ actor: memberId, text: 'agreed to stop' }),
  'shutdown:rejected': ({ memberId, feedback }) => ({
    actor: memberId,
    text: 'refused to stop',
    reason: feedback,
    tone: 'notable',
  }),
  'plan:submitted': ({ memberId, content }) => ({
    actor: memberId,
    text: 'submitted a plan',
    content,
    tone: 'notable',
  }),
  'plan:approved': ({ by, memberId, feedback }) => ({
    actor: by,
    text: `approved the plan of ${memberId}`,
    reason: feedback,
    tone: 'good',
  }),
  'plan:rejected': ({ by, memberId, feedback }) => ({
    actor: by,
    text: `sent back the plan of ${memberId}`,
    reason: feedback,
    tone: 'bad',
  }),
  'request:raised': ({ memberId, kind, content }) => ({
    actor: memberId,
    text: `waits for a person (${kind})`,
    content,
    tone: 'notable',
  }),
  'request:answered': ({ by, memberId, approved, feedback }) => ({
    actor: by,
    text: `said ${approved ? 'yes' : 'no'} to ${memberId}`,
    reason: feedback,
  }),

  'note:added': ({ by, text }) => ({ actor: by, text: 'noted', content: text }),
  'note:updated': ({ by, noteId }) => ({ actor: by, text: `changed note ${noteId}` }),
  'note:removed': ({ by, noteId }) => ({ actor: by, text: `removed note ${noteId}` }),
  'usage:recorded': ({ memberId, usage }) => ({ actor: memberId, text: wordUsage(usage), tone: 'quiet' }),
};

/** An event as text. An unknown event of a newer daemon is shown by its name. */
export function wordEvent(event: TeamEvent, task: NameTask = (id) => `#${id}`): EventWords {
  const word = WORDS[event.type] as ((event: TeamEvent, task: NameTask) => EventWords) | undefined;
  return word?.(event, task) ?? { actor: event.by, text: event.type, tone: 'quiet' };
}

function wordChange({ by, memberId, status, metadata }: EventOf<'teammate:changed'>): EventWords {
  if (status !== undefined) return { actor: memberId, text: `is ${status}`, tone: 'quiet' };
  if (metadata?.['waiting'] === null) return { actor: memberId, text: 'no longer waits', tone: 'quiet' };
  const reason = waitingOf({ metadata });
  if (reason === undefined) return { actor: by, text: `changed ${memberId}`, tone: 'quiet' };
  return { actor: memberId, text: 'waits', reason, tone: 'notable' };
}

/** Who sent work back: a person under their own name, a gate under the daemon's. */
function judgeOf({ by, gate }: EventOf<'task:rejected'>): string {
  if (gate !== undefined) return `the gate ${gate}`;
  return by === '@system' ? 'a gate' : by;
}

/** Programs that count no tokens still have turns. */
function wordUsage({ inputTokens, outputTokens, turns }: Usage): string {
  const tokens = inputTokens + outputTokens;
  if (tokens > 0) return `used ${tokens} tokens`;
  return turns === 1 ? 'did a turn' : `did ${turns} turns`;
}

function list(ids: readonly string[]): string {
  return ids.map((id) => `#${id}`).join(', ');
}

function mails(ids: readonly string[]): string {
  return ids.length === 1 ? '1 message' : `${ids.length} messages`;
}
