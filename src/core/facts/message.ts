import { SYSTEM } from '../actor.ts';
import { otherTeamOf } from '../address.ts';
import { FORMER_SESSIONS } from '../limits.ts';
import { paidAfterSending, peerPaidAfterSending } from '../message-price.ts';
import type { TeamMessage } from '../message.ts';
import type { TeamState } from '../state.ts';
import { putBroadcast, putMessage, putTeam } from '../tables.ts';
import { dateOf } from '../time.ts';
import { changeMember } from './apply.ts';
import type { ApplyTo, Whole } from './apply.ts';

/** A message before it is sent, with every field. These are also the columns of messages in a snapshot (`columns.ts`). */
export const NEW_MESSAGE: Whole<TeamMessage> = {
  id: '',
  teamId: '',
  fromId: SYSTEM,
  toId: '',
  type: 'direct',
  content: '',
  summary: undefined,
  priority: 'normal',
  order: 0,
  sentAt: dateOf(0),
  deliveredAt: undefined,
  sessionId: undefined,
  formerSessions: undefined,
  acknowledgedAt: undefined,
  readAt: undefined,
  redeliveries: 0,
  broadcastId: undefined,
  metadata: undefined,
};

export const MESSAGE_FACTS: ApplyTo<'message'> = {
  'message:sent': (state, { at, by, copies, messageType, content, summary, priority, broadcastId, metadata }) => {
    const sentAt = dateOf(at);
    changeMember(state, by, (sender) => ({ ...sender, sendsPaidAt: paidAfterSending(state, sender, at) }));
    const teamId = otherTeamOf(by);
    if (teamId !== undefined) payForPeer(state, teamId, at);
    for (const { id, toId } of copies) {
      putMessage(state, id, {
        ...NEW_MESSAGE,
        id,
        teamId: state.teamId,
        fromId: by,
        toId,
        type: messageType,
        content,
        summary,
        priority,
        order: state.messages.size + 1,
        sentAt,
        broadcastId,
        metadata,
      });
    }
    if (broadcastId !== undefined) {
      putBroadcast(
        state,
        broadcastId,
        copies.map(({ id }) => id),
      );
    }
  },

  'message:delivered': (state, { at, messageIds, sessionId, redelivery }) =>
    changeMessages(state, messageIds, (message) => ({
      ...message,
      deliveredAt: message.deliveredAt ?? dateOf(at),
      sessionId,
      formerSessions: formerSessions(message, sessionId),
      redeliveries: message.redeliveries + (redelivery ? 1 : 0),
    })),

  'message:acknowledged': (state, { at, messageIds }) =>
    changeMessages(state, messageIds, (message) => ({
      ...message,
      deliveredAt: message.deliveredAt ?? dateOf(at),
      acknowledgedAt: dateOf(at),
    })),

  'message:read': (state, { at, messageIds }) =>
    changeMessages(state, messageIds, (message) => ({
      ...message,
      deliveredAt: message.deliveredAt ?? dateOf(at),
      readAt: dateOf(at),
    })),
};

function payForPeer(state: TeamState, teamId: string, at: number): void {
  if (!state.team) return;
  const paidAt = peerPaidAfterSending(state, teamId, at);
  putTeam(state, { ...state.team, peersPaidAt: { ...state.team.peersPaidAt, [teamId]: paidAt } });
}

function formerSessions({ sessionId, formerSessions: before }: TeamMessage, next: string): string[] | undefined {
  if (sessionId === undefined || sessionId === next) return before;
  return [...(before ?? []), sessionId].slice(-FORMER_SESSIONS);
}

function changeMessages(state: TeamState, ids: readonly string[], change: (message: TeamMessage) => TeamMessage): void {
  for (const id of ids) {
    const message = state.messages.get(id);
    if (message) putMessage(state, id, change(message));
  }
}
