import { nounOf } from '../core/event.ts';
import type { EventNoun, TeamEvent } from '../core/event.ts';
import type { TeamState } from '../core/state.ts';
import { viewMember, viewTask, viewTeam } from '../core/view.ts';
import type { Stored } from '../journal/journal.ts';
import type { Caller } from '../operations/caller.ts';
import { visibleEvents } from '../operations/visible.ts';

/** The frames of one batch for each subscriber. */
export interface BatchFrames {
  readonly seq: number;
  /** The `events` frame and, unless the subscriber wants only that, the messages made from it. */
  for(caller: Caller, only: 'events' | undefined): readonly string[];
}

/**
 * The frames of a batch. The state includes the batch; without a state there is only the `events` frame. Subscribers
 * that may see everything get the same frames: these are written once, and only if there is such a subscriber.
 */
export function batchFrames(teamId: string, { seq, events }: Stored, state?: TeamState): BatchFrames {
  const whole: { events?: string; messages?: readonly string[] } = {};

  return {
    seq,
    for(caller, only) {
      const seen = visibleEvents(events, caller);
      const cache = seen === events ? whole : {};
      cache.events ??= JSON.stringify({ type: 'events', teamId, seq, events: seen });
      if (only === 'events' || !state) return [cache.events];
      cache.messages ??= messagesOf(seen, state).map((message) => JSON.stringify({ ...message, teamId, seq }));
      return [cache.events, ...cache.messages];
    },
  };
}

/** What changed, each thing once, in its state after the batch. */
function messagesOf(events: readonly TeamEvent[], state: TeamState): Message[] {
  const messages = new Map<string, Message>();
  for (const event of events) {
    for (const [key, message] of entriesOf(event, state)) messages.set(`${message.type} ${key}`, message);
  }
  // `team_created` contains the whole team.
  if (messages.has('team_created ')) messages.delete('team_status_update ');
  return [...messages.values()];
}

interface Message {
  readonly type: string;
  readonly [field: string]: unknown;
}

function entriesOf(event: TeamEvent, state: TeamState): [key: string, Message][] {
  if (event.type === 'team:created') return [['', { type: 'team_created', team: viewTeam(state) }]];
  if (event.type === 'team:closed') return [['', { type: 'team_cleaned_up' }]];
  if (event.type === 'message:sent') {
    const sent = event.copies.flatMap(({ id }) => state.messages.get(id) ?? []);
    return sent.map((message) => [message.id, { type: 'team_message', message }]);
  }
  // The lead is no teammate, and a program that counts teammates must not count it. Its changes come with the team.
  const isOfLead = 'memberId' in event && event.memberId === state.team?.leadId;
  if (event.type === 'teammate:joined' && !isOfLead) {
    const member = state.members.get(event.memberId);
    return member ? [[member.id, { type: 'teammate_spawned', member: viewMember(state, member) }]] : [];
  }
  if ((event.type === 'teammate:idle' || event.type === 'teammate:stopped') && !isOfLead) {
    const type = event.type === 'teammate:idle' ? 'teammate_idle' : 'teammate_shutdown';
    return [[event.memberId, { type, memberId: event.memberId }]];
  }
  const changed = CHANGES[nounOf(event)];
  if (changed === 'task' && 'taskId' in event) {
    const task = state.tasks.get(event.taskId ?? '');
    return task ? [[task.id, { type: 'team_task_update', task: viewTask(state, task) }]] : [];
  }
  return changed === 'team' && state.team ? [['', { type: 'team_status_update', team: viewTeam(state) }]] : [];
}

/** What is sent again after other events: the task, the team with its members, or nothing. */
const CHANGES: Readonly<Record<EventNoun, 'task' | 'team' | 'nothing'>> = {
  team: 'team',
  teammate: 'team',
  shutdown: 'team',
  plan: 'team',
  task: 'task',
  work: 'task',
  landing: 'team',
  tip: 'team',
  hook: 'nothing',
  message: 'nothing',
  request: 'nothing',
  note: 'nothing',
  usage: 'nothing',
  account: 'nothing',
};
