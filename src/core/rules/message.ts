import { SYSTEM } from '../actor.ts';
import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { NO_SESSION } from '../member-marks.ts';
import type { TeamMessage } from '../message.ts';
import { isVacant } from '../person.ts';
import { isExpected } from '../state.ts';
import type { TeamState } from '../state.ts';
import { quote } from '../text.ts';
import { requireMember } from '../view.ts';
import { requireActor, requireOpenTeam, requireSelf, requireTaken } from './guard.ts';
import { requireMessagePace } from './pace.ts';

/** The content is never interpreted: a text that looks like protocol is just text. */
export function sendMessage(state: TeamState, command: CommandOf<'message.send'>): TeamEvent[] {
  requireOpenTeam(state);
  requireActor(state, command.by);
  const first = state.messages.get(command.messageId);
  if (first) {
    if (first.fromId === command.by && first.toId === command.toId && first.content === command.content) return [];
    throw new TeamError(
      'conflict',
      `Message id ${quote(command.messageId)} is used for another message: send with a new id`,
    );
  }
  if (command.messageType !== 'direct' && command.by !== SYSTEM) {
    throw new TeamError(
      'not_allowed',
      `Messages of type ${command.messageType} come only from Troupe itself: send a direct one`,
    );
  }
  const recipient = requireMember(state, command.toId);
  // What Troupe itself tells a lead is for the log, where people read it.
  if (command.by !== SYSTEM) requireTaken(state, recipient);
  if (!isExpected(recipient)) {
    throw new TeamError(
      'member_stopped',
      `Member ${recipient.id} is stopped and would never read it: start it again or write to another`,
    );
  }
  requireMessagePace(state, command);
  return [
    event(command, 'message:sent', {
      copies: [{ id: command.messageId, toId: recipient.id }],
      messageType: command.messageType,
      content: command.content,
      summary: command.summary,
      priority: command.priority,
      metadata: command.metadata,
    }),
  ];
}

/** Sends to all current members except the sender: to all of them, or throws. */
export function broadcastMessage(state: TeamState, command: CommandOf<'message.broadcast'>): TeamEvent[] {
  requireOpenTeam(state);
  requireActor(state, command.by);
  const first = state.broadcasts.get(command.messageId);
  if (first) {
    const copy = state.messages.get(first[0] as string);
    if (copy?.fromId === command.by && copy.content === command.content) return [];
    throw new TeamError(
      'conflict',
      `Message id ${quote(command.messageId)} is used for another broadcast: send with a new id`,
    );
  }
  const recipients = [...state.members.values()].filter(
    (member) => member.id !== command.by && isExpected(member) && !isVacant(member),
  );
  if (recipients.length === 0) return [];
  requireMessagePace(state, command);
  return [
    event(command, 'message:sent', {
      copies: recipients.map((member) => ({ id: `${command.messageId}/${member.id}`, toId: member.id })),
      messageType: 'broadcast',
      content: command.content,
      summary: command.summary,
      priority: command.priority,
      broadcastId: command.messageId,
      metadata: command.metadata,
    }),
  ];
}

/**
 * Delivers messages, each at most once per session. A message that was delivered but never acknowledged may have been
 * shown before a crash. It is delivered again only to another session, or if the caller says `redelivery`, and is
 * marked then. A session that had the message before does not get it again. A session that is no
 * longer current does not get what the current one has: two live sessions would show it to their agents in turn.
 */
export function deliverMessages(state: TeamState, command: CommandOf<'message.deliver'>): TeamEvent[] {
  requireOpenTeam(state);
  const messages = ownMessages(state, command);
  const present = state.members.get(command.memberId)?.sessionId;
  const isOld = present !== undefined && present !== NO_SESSION && present !== command.sessionId;
  const fresh: string[] = [];
  const again: string[] = [];
  for (const message of messages) {
    if (message.acknowledgedAt || message.readAt) continue;
    if (!message.deliveredAt) fresh.push(message.id);
    else if (isOld && message.sessionId === present) continue;
    else if (message.formerSessions?.includes(command.sessionId)) continue;
    else if (command.redelivery || message.sessionId !== command.sessionId) again.push(message.id);
  }
  const { memberId, sessionId } = command;
  const events: TeamEvent[] = [];
  if (fresh.length > 0) events.push(event(command, 'message:delivered', { memberId, messageIds: fresh, sessionId }));
  if (again.length > 0) {
    events.push(event(command, 'message:delivered', { memberId, messageIds: again, sessionId, redelivery: true }));
  }
  return events;
}

export function acknowledgeMessages(state: TeamState, command: CommandOf<'message.acknowledge'>): TeamEvent[] {
  requireOpenTeam(state);
  const messageIds = idsOf(ownMessages(state, command).filter((message) => !message.acknowledgedAt));
  return messageIds.length > 0
    ? [event(command, 'message:acknowledged', { memberId: command.memberId, messageIds })]
    : [];
}

export function readMessages(state: TeamState, command: CommandOf<'message.read'>): TeamEvent[] {
  requireOpenTeam(state);
  const messageIds = idsOf(ownMessages(state, command).filter((message) => !message.readAt));
  return messageIds.length > 0 ? [event(command, 'message:read', { memberId: command.memberId, messageIds })] : [];
}

/** The named messages of one inbox, in the order of sending. Only its owner and Troupe may touch an inbox. */
function ownMessages(
  state: TeamState,
  command: CommandOf<'message.deliver' | 'message.acknowledge' | 'message.read'>,
): TeamMessage[] {
  requireActor(state, command.by);
  requireMember(state, command.memberId);
  requireSelf(command.by, command.memberId, 'touch the inbox of');
  const messages = [...new Set(command.messageIds)].map((id) => {
    const message = state.messages.get(id);
    if (message?.toId === command.memberId) return message;
    throw new TeamError(
      'not_found',
      `The inbox of ${command.memberId} has no message ${quote(id)}: list it to see its messages`,
    );
  });
  return messages.sort((a, b) => a.order - b.order);
}

function idsOf(messages: readonly TeamMessage[]): string[] {
  return messages.map((message) => message.id);
}
