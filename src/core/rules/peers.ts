import { SYSTEM, USER } from '../actor.ts';
import type { Actor } from '../actor.ts';
import { LEAD, otherTeamOf } from '../address.ts';
import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { PEER_MESSAGE_BYTES, PEER_MESSAGES_PER_HOUR } from '../limits.ts';
import { HOUR_MS, peerWait } from '../message-price.ts';
import { isExpected } from '../state.ts';
import type { TeamState } from '../state.ts';
import { byteLength, quote } from '../text.ts';
import { requireMember } from '../view.ts';
import { requireLive, requireOpenTeam, requirePerson, requireTaken } from './guard.ts';

/**
 * Whether a member may write to another team, as far as its own team decides. Asked before anything is said about the
 * other team: a team that is not listed could be any name.
 */
export function requirePeer(state: TeamState, by: Actor, teamId: string): void {
  const team = requireOpenTeam(state);
  if (by === USER || by === SYSTEM) {
    throw new TeamError('invalid', `${by} is no member of team ${team.id}: write to team ${teamId} directly`);
  }
  requireLive(state, by);
  if (!team.peers?.includes(teamId)) throw notListed(team.id, teamId);
  // `lead@team` reaches the lead, so nobody else may sign with it.
  if (by === LEAD && team.leadId !== LEAD) {
    throw new TeamError(
      'not_allowed',
      `${by} does not lead team ${team.id}, but ${by}@${team.id} means its lead: ask ${team.leadId} to write to team ${teamId}`,
    );
  }
}

/**
 * Takes a message from a member of another team; `by` is its address. It is kept for the lead of an open team even
 * while the lead is stopped.
 */
export function receiveMessage(state: TeamState, command: CommandOf<'message.receive'>): TeamEvent[] {
  const { by, messageId, content, summary, metadata } = command;
  const team = requireOpenTeam(state);
  const from = otherTeamOf(by);
  if (from === undefined) throw new TeamError('not_allowed', `${quote(by)} is not a member of another team`);
  const first = state.messages.get(messageId);
  // Asked first: a team that is not listed learns nothing about the members. A retry gets its first answer.
  if (first?.fromId !== by && !team.peers?.includes(from)) throw notListed(team.id, from);
  const recipient = requireMember(state, command.toId === LEAD ? team.leadId : command.toId);
  if (first) {
    if (first.fromId === by && first.toId === recipient.id && first.content === content) return [];
    throw new TeamError('conflict', `Message id ${quote(messageId)} is used for another message: send with a new id`);
  }
  requireTaken(state, recipient);
  if (command.priority === 'urgent') {
    throw new TeamError('not_allowed', 'A message to another team cannot be urgent: its members are not interrupted');
  }
  if (byteLength(content) > PEER_MESSAGE_BYTES) {
    throw new TeamError(
      'limit',
      `A message to another team has at most ${PEER_MESSAGE_BYTES} bytes, and this one has ${byteLength(content)}: say it in fewer words`,
    );
  }
  if (!isExpected(recipient) && recipient.id !== team.leadId) {
    throw new TeamError(
      'member_stopped',
      `Member ${recipient.id} of team ${team.id} is stopped and would never read it: write to ${LEAD}@${team.id}`,
    );
  }
  requirePeerPace(state, command, from);
  return [
    event(command, 'message:sent', {
      copies: [{ id: messageId, toId: recipient.id }],
      messageType: 'direct',
      content,
      summary,
      priority: 'normal',
      metadata,
    }),
  ];
}

/** Only people connect teams. */
export function requirePeersKept(state: TeamState, { by, peers }: CommandOf<'team.update'>): void {
  if (peers === undefined) return;
  requirePerson(by, 'change the peers of the team');
  requireOthers(state.teamId, peers);
}

/** A team needs no permission to write to itself; a file that says so means something else. */
export function requireOthers(teamId: string, peers: readonly string[] | undefined): void {
  if (!peers?.includes(teamId)) return;
  throw new TeamError('invalid', `peers: ${teamId} is this team itself; list other teams`);
}

/**
 * All members of another team together have one price, which is much higher than that of a member: two leads that
 * thank each other would go on all night.
 */
function requirePeerPace(state: TeamState, { at }: { at: number }, teamId: string): void {
  const wait = peerWait(state, teamId, at);
  if (wait === 0) return;
  throw new TeamError(
    'limit',
    `Team ${teamId} writes too much to team ${state.teamId} (${PEER_MESSAGES_PER_HOUR} messages an hour): try again in ${Math.ceil((wait / HOUR_MS) * 60)} min, and only if it needs an answer`,
    { retryMs: wait },
  );
}

function notListed(teamId: string, peer: string): TeamError {
  return new TeamError(
    'not_allowed',
    `Team ${teamId} does not list ${peer} in its peers: a person adds it to the team file of ${teamId} (peers: [${peer}]) and runs troupe up`,
  );
}
