import { describeLimit, describeWindow } from '../account-words.ts';
import { catalogNameOf } from '../agent-kinds.ts';
import { shortId } from '../commit-id.ts';
import type { EventOf, EventType, TeamEvent } from '../event.ts';
import { troublesTold } from '../hook-trouble.ts';
import type { Usage } from '../usage.ts';
import { waitingOf, waitsOrSilent } from '../waiting.ts';
import { everybody, itsMember, nobody } from './row.ts';
import type { EventRow, EventWords, TaskEventRow, TaskEventType } from './row.ts';
import { TASK_EVENTS } from './task.ts';
import { WORK_EVENTS } from './work.ts';

const EVENTS: { readonly [T in EventType]: EventRow<T> } = {
  'team:created': {
    wakes: nobody,
    mark: 'state',
    words: ({ by, name, leadId }) => ({ actor: by, text: `created the team ${name}, led by ${leadId}` }),
  },
  'team:updated': {
    wakes: everybody,
    mark: null,
    words: ({ by, leadId, metadata }) => {
      const troubles = troublesTold(metadata);
      if (troubles.length > 0) return { actor: by, text: 'says', reason: troubles.join('. '), tone: 'notable' };
      return { actor: by, text: `changed the team${leadId === undefined ? '' : `; ${leadId} leads it now`}` };
    },
  },
  'team:closed': {
    wakes: everybody,
    mark: 'state',
    words: ({ by }) => ({ actor: by, text: 'closed the team', tone: 'notable' }),
  },
  'hook:registered': {
    wakes: nobody,
    mark: null,
    words: ({ by, hook }) => ({ actor: by, text: `registered a ${hook.type} hook`, reason: hook.command }),
  },
  'hook:removed': {
    wakes: nobody,
    mark: null,
    words: ({ by, hookType }) => ({ actor: by, text: `removed the ${hookType} hooks` }),
  },
  'teammate:joined': {
    // The lead may be back; without it no new work was taken.
    wakes: everybody,
    mark: 'state',
    words: ({ by, memberId, role }) => ({ actor: by, text: `added ${memberId}, ${role}`, tone: 'good' }),
  },
  'teammate:changed': {
    wakes: (event, memberId) =>
      [event.budget, event.quietHours, event.onLimit].some((one) => one !== undefined) && event.memberId === memberId,
    // Of all changes of a member, people look for its status.
    mark: 'state',
    words: wordChange,
  },
  'teammate:switched': {
    wakes: nobody,
    mark: 'state',
    words: ({ memberId, agent, standIn }) => ({
      actor: memberId,
      text: standIn ? `goes on with ${standIn.name}` : `is back with ${catalogNameOf(agent)}`,
      ...(standIn?.own.account !== undefined && { reason: `${standIn.own.account} cannot be used now` }),
      tone: 'notable',
    }),
  },
  'teammate:placed': {
    wakes: nobody,
    mark: null,
    words: ({ by, memberId, hostId }) => ({
      actor: by,
      text: `starts ${memberId} on ${hostId}`,
      tone: 'quiet',
    }),
  },
  'teammate:idle': {
    wakes: nobody,
    mark: 'state',
    words: ({ memberId, reason }) => ({ actor: memberId, text: 'is idle', reason, tone: 'quiet' }),
  },
  'teammate:stopped': {
    wakes: itsMember,
    mark: 'state',
    words: ({ memberId, reason }) => ({ actor: memberId, text: 'stopped', reason, tone: 'bad' }),
  },
  ...TASK_EVENTS,
  ...WORK_EVENTS,
  'tip:moved': {
    wakes: nobody,
    mark: 'state',
    words: ({ by, from, to, rewritten }) => ({
      actor: by,
      text: `${rewritten ? 'replaced commits of the branch' : 'added commits to the branch'}: ${shortId(from)} to ${shortId(to)}`,
      tone: 'notable',
    }),
  },
  'tip:refused': {
    wakes: nobody,
    mark: 'fail',
    words: ({ commit, ref }) => ({
      actor: 'the branch',
      text: `was moved to ${shortId(commit)}, which does not descend from it, and was put back`,
      reason: `${ref} keeps that commit`,
      tone: 'bad',
    }),
  },
  'message:sent': {
    wakes: ({ copies }, memberId) => copies.some(({ toId }) => toId === memberId),
    mark: 'message',
    words: ({ by, copies, content, priority }) => ({
      actor: by,
      text: `wrote to ${copies.map(({ toId }) => toId).join(', ')}`,
      content,
      ...(priority === 'urgent' && { tone: 'bad' }),
    }),
  },
  'message:delivered': {
    wakes: nobody,
    mark: null,
    words: ({ memberId, messageIds }) => ({
      actor: memberId,
      text: `received ${mails(messageIds)}`,
      tone: 'quiet',
    }),
  },
  'message:acknowledged': {
    wakes: nobody,
    mark: null,
    words: ({ memberId, messageIds }) => ({
      actor: memberId,
      text: `acknowledged ${mails(messageIds)}`,
      tone: 'quiet',
    }),
  },
  'message:read': {
    wakes: nobody,
    mark: null,
    words: ({ memberId, messageIds }) => ({ actor: memberId, text: `read ${mails(messageIds)}`, tone: 'quiet' }),
  },
  'shutdown:requested': {
    wakes: itsMember,
    mark: 'state',
    words: ({ by, memberId, reason }) => ({
      actor: by,
      text: `asked ${memberId} to stop`,
      reason,
      tone: 'notable',
    }),
  },
  'shutdown:approved': {
    wakes: nobody,
    mark: 'state',
    words: ({ memberId }) => ({ actor: memberId, text: 'agreed to stop' }),
  },
  'shutdown:rejected': {
    wakes: nobody,
    mark: 'state',
    words: ({ memberId, feedback }) => ({
      actor: memberId,
      text: 'refused to stop',
      reason: feedback,
      tone: 'notable',
    }),
  },
  'plan:submitted': {
    wakes: itsMember,
    mark: 'gate',
    words: ({ memberId, content }) => ({
      actor: memberId,
      text: 'submitted a plan',
      content,
      tone: 'notable',
    }),
  },
  'plan:approved': {
    wakes: itsMember,
    mark: 'gate',
    words: ({ by, memberId, feedback }) => ({
      actor: by,
      text: `approved the plan of ${memberId}`,
      reason: feedback,
      tone: 'good',
    }),
  },
  'plan:rejected': {
    wakes: itsMember,
    mark: 'gate',
    words: ({ by, memberId, feedback }) => ({
      actor: by,
      text: `sent back the plan of ${memberId}`,
      reason: feedback,
      tone: 'bad',
    }),
  },
  'request:raised': {
    wakes: nobody,
    mark: 'gate',
    words: ({ memberId, kind, content }) => ({
      actor: memberId,
      text: RAISED[kind] ?? `waits for a person (${kind})`,
      content,
      tone: 'notable',
    }),
  },
  'request:answered': {
    // Other answers come with the events that follow from them, or are read by the member's process itself.
    wakes: (event, memberId) => event.kind === 'account' || (event.kind === 'question' && event.memberId === memberId),
    mark: 'gate',
    words: (event) => ({
      actor: event.by,
      text: wordAnswer(event),
      reason: event.choice ?? event.feedback,
    }),
  },
  'note:added': {
    wakes: nobody,
    mark: null,
    words: ({ by, text }) => ({ actor: by, text: 'noted', content: text }),
  },
  'note:updated': {
    wakes: nobody,
    mark: null,
    words: ({ by, noteId }) => ({ actor: by, text: `changed note ${noteId}` }),
  },
  'note:removed': {
    wakes: nobody,
    mark: null,
    words: ({ by, noteId }) => ({ actor: by, text: `removed note ${noteId}` }),
  },
  'usage:recorded': {
    wakes: nobody,
    mark: null,
    words: ({ memberId, usage }) => ({ actor: memberId, text: wordUsage(usage), tone: 'quiet' }),
  },
  'account:changed': {
    // Turns may begin again, or may not.
    wakes: ({ limit }) => limit !== undefined,
    mark: 'state',
    words: wordAccount,
  },
};

/** The row of an event; undefined for an unknown event of a newer daemon. */
export function rowOf({ type }: TeamEvent): EventRow<EventType> | undefined {
  return Object.hasOwn(EVENTS, type) ? (EVENTS[type] as unknown as EventRow<EventType>) : undefined;
}

/** The same for an event about a task; undefined for all others. */
export function taskRowOf(type: EventType): TaskEventRow<TaskEventType> | undefined {
  if (!Object.hasOwn(TASK_EVENTS, type)) return undefined;
  return TASK_EVENTS[type as TaskEventType] as unknown as TaskEventRow<TaskEventType>;
}

/** The task that its holder has no longer after this event; undefined if that is so of none. */
export function taskLetGo(event: TeamEvent): string | undefined {
  return 'taskId' in event && taskRowOf(event.type)?.letsGo ? event.taskId : undefined;
}

const RAISED: Readonly<Record<string, string>> = {
  review: 'is asked for a review',
  question: 'asks its user',
};

function wordAnswer({ memberId, approved, kind, choice }: EventOf<'request:answered'>): string {
  if (kind !== 'question') return `said ${approved ? 'yes' : 'no'} to ${memberId}`;
  if (approved) return `answered ${memberId}`;
  return choice === undefined ? `left the question to ${memberId}` : `gave ${memberId} its default answer`;
}

function wordChange({ by, memberId, status, metadata, interrupted }: EventOf<'teammate:changed'>): EventWords {
  if (status !== undefined) return { actor: memberId, text: `is ${status}`, tone: 'quiet' };
  if (interrupted !== undefined) {
    return { actor: memberId, text: 'was interrupted and does its turn again', reason: interrupted, tone: 'notable' };
  }
  if (metadata?.['waiting'] === null) return { actor: memberId, text: 'no longer waits', tone: 'quiet' };
  const reason = waitingOf({ metadata });
  if (reason === undefined) return { actor: by, text: `changed ${memberId}`, tone: 'quiet' };
  const isSilent = waitsOrSilent({ metadata }) === 'silent';
  return { actor: memberId, text: isSilent ? 'is silent' : 'waits', reason, tone: 'notable' };
}

/** Programs that count no tokens still have turns. */
function wordUsage({ inputTokens, outputTokens, turns }: Usage): string {
  const tokens = inputTokens + outputTokens;
  if (tokens > 0) return `used ${tokens.toLocaleString('en-US')} tokens`;
  return turns === 1 ? 'did a turn' : `did ${turns} turns`;
}

function mails(ids: readonly string[]): string {
  return ids.length === 1 ? '1 message' : `${ids.length} messages`;
}

function wordAccount({ account, limit, windows = [], warns = [] }: EventOf<'account:changed'>): EventWords {
  const actor = 'the account';
  if (limit) return { actor, text: `is ${describeLimit(limit, account)}`, reason: limit.reason, tone: 'notable' };
  if (limit === null) return { actor, text: `${account} can be used again`, tone: 'good' };
  const tone = warns.length > 0 ? 'notable' : 'quiet';
  return { actor, text: `${account} has used ${windows.map(describeWindow).join(', ')}`, tone };
}
