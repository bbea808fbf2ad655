import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { z } from 'zod';
import { SYSTEM, USER } from '../core/actor.ts';
import type { Actor } from '../core/actor.ts';
import { addressOf, LEAD } from '../core/address.ts';
import type { Address } from '../core/address.ts';
import type { CommandOf } from '../core/command.ts';
import { decide } from '../core/decide.ts';
import { ChosenId } from '../core/fields.ts';
import { feedbackOf } from '../core/hook.ts';
import type { HookResult, TeammateIdleHookContext } from '../core/hook.ts';
import { ChangeMemberInput } from '../core/member.ts';
import { BroadcastInput, SendMessageInput } from '../core/message.ts';
import type { MessageType, TeamMessage } from '../core/message.ts';
import { parse } from '../core/parse.ts';
import { addressIn } from '../core/peers.ts';
import { requirePeer } from '../core/rules/peers.ts';
import type { TeamState } from '../core/state.ts';
import { requireMember, requireTeam } from '../core/view.ts';
import { emitAll } from './emit.ts';
import type { Ledger } from './ledger.ts';
import { RunningCalls } from './running-calls.ts';

/** Which messages of an inbox to return. */
export interface InboxFilter {
  readonly type?: MessageType | readonly MessageType[];
  /** true: only read ones; false: only unread ones. */
  readonly read?: boolean;
  /** Sent at or after. */
  readonly since?: Date;
  /** Sent before. */
  readonly until?: Date;
}

/** An idle notice: a change of state that carries the result of the work. It is not mail. */
export interface IdleNotice {
  teamId: string;
  memberId: string;
  reason: string | undefined;
  result: string | undefined;
}

/** Events of the mailbox, emitted once they are durable. */
export interface MailboxEvents {
  'message:sent': [message: TeamMessage];
  'message:delivered': [message: TeamMessage];
  'message:read': [message: TeamMessage];
  'teammate:idle': [notice: IdleNotice];
}

/** May keep a teammate working when it is about to go idle. */
export interface IdleGate {
  executeTeammateIdleHook(context: TeammateIdleHookContext): Promise<HookResult>;
}

/** The mail of every team on a ledger. The rules are in the core. */
export class Mailbox extends EventEmitter<MailboxEvents> {
  readonly #ledger: Ledger;
  readonly #gate: IdleGate | undefined;
  readonly #unsubscribe: () => void;
  readonly #running = new RunningCalls();

  constructor(ledger: Ledger, options: { gate?: IdleGate } = {}) {
    super();
    this.#ledger = ledger;
    this.#gate = options.gate;
    this.#unsubscribe = ledger.subscribe((teamId, batch, state) => {
      emitAll(batch.events, (event) => {
        if (event.type === 'message:sent') {
          this.#tell(
            'message:sent',
            state,
            event.copies.map(({ id }) => id),
          );
        }
        if (event.type === 'message:delivered' || event.type === 'message:read') {
          this.#tell(event.type, state, event.messageIds);
        }
        if (event.type === 'teammate:idle') {
          this.emit('teammate:idle', { teamId, memberId: event.memberId, reason: event.reason, result: event.result });
        }
      });
    });
  }

  /**
   * Sends a message to a member, or to one of another team (`lead@beta`). A second call with the same `messageId`
   * returns the first message.
   */
  async send(
    teamId: string,
    fromId: Actor,
    input: z.input<typeof SendMessageInput>,
    options: { messageId?: string } = {},
  ): Promise<TeamMessage> {
    const messageId = idFor(options);
    const message = parse(SendMessageInput, input);
    const to = addressIn(message.toId);
    const isElsewhere = to !== undefined && to.teamId !== teamId;
    if (isElsewhere && fromId !== USER) return this.#sendToPeer(teamId, fromId, { messageId, message, to });
    // A person writes to any team directly.
    const own = to?.teamId ?? teamId;
    const toId = to ? await this.#memberOf(to) : message.toId;
    const { type: messageType } = message;
    const command = { ...message, toId, type: 'message.send', by: fromId, messageId, messageType } as const;
    return this.#ledger.execute(own, command, (state) => state.messages.get(messageId) as TeamMessage);
  }

  /** Sends one message each to all other members of the team. */
  async broadcast(
    teamId: string,
    fromId: Actor,
    content: string,
    options: Omit<z.input<typeof BroadcastInput>, 'content'> & { messageId?: string } = {},
  ): Promise<TeamMessage[]> {
    const { messageId: _messageId, ...rest } = options;
    const messageId = idFor(options);
    const command = {
      type: 'message.broadcast',
      by: fromId,
      messageId,
      ...parse(BroadcastInput, { content, ...rest }),
    } as const;
    return this.#ledger.execute(teamId, command, (state) => messagesOf(state, state.broadcasts.get(messageId) ?? []));
  }

  /** A member's mail in the order in which it was sent. */
  getInbox(teamId: string, memberId: string, filter: InboxFilter = {}): Promise<TeamMessage[]> {
    const types = filter.type === undefined ? undefined : new Set([filter.type].flat());
    return this.#ledger.view(teamId, (state) => {
      requireTeam(state);
      requireMember(state, memberId);
      return messagesOf(state, state.index.inboxes.get(memberId)?.ids ?? []).filter(
        (message) =>
          (!types || types.has(message.type)) &&
          (filter.read === undefined || filter.read === (message.readAt !== undefined)) &&
          (!filter.since || message.sentAt >= filter.since) &&
          (!filter.until || message.sentAt < filter.until),
      );
    });
  }

  /** Marks a message of the member's inbox as read. */
  async markRead(teamId: string, messageId: string, memberId: string): Promise<void> {
    await this.#ledger.execute(
      teamId,
      { type: 'message.read', by: memberId, memberId, messageIds: [messageId] },
      () => undefined,
    );
  }

  /**
   * The member has nothing left to do. If the gate answers with feedback, the member gets it as a message and keeps
   * working. Otherwise the member becomes idle; that is announced once, with `result`.
   */
  async notifyIdle(
    teamId: string,
    memberId: string,
    { onHost, ...options }: { result?: string; reason?: string; onHost?: string } = {},
  ): Promise<boolean> {
    const change = parse(ChangeMemberInput, { memberId, status: 'idle', ...options });
    const command = {
      type: 'member.change',
      by: memberId,
      ...(onHost !== undefined && { onHost }),
      ...change,
    } as const;
    // A member goes idle once at a time, so a second call is the first one repeated.
    return this.#running.join(`${teamId} ${memberId}`, async () => {
      const feedback = await this.#idleFeedback(teamId, command);
      if (feedback === undefined) await this.#ledger.execute(teamId, command, () => undefined);
      else await this.send(teamId, SYSTEM, { toId: memberId, content: feedback, type: 'system' });
      return feedback === undefined;
    });
  }

  /** Tells the lead that a member shuts down. */
  async notifyShutdown(teamId: string, memberId: string, reason: string): Promise<void> {
    const leadId = await this.#ledger.view(teamId, (state) => {
      requireMember(state, memberId);
      return requireTeam(state).leadId;
    });
    const content = reason ? `${memberId} is shutting down: ${reason}` : `${memberId} is shutting down`;
    await this.send(teamId, SYSTEM, { toId: leadId, content, type: 'system', metadata: { memberId } });
  }

  /** Stops emitting events. */
  close(): void {
    this.#unsubscribe();
    this.removeAllListeners();
  }

  /**
   * One write, in the team of the recipient. A retry under the same id is not judged by the sender's team again: its
   * answer must be true even if the teams no longer list each other.
   */
  async #sendToPeer(
    teamId: string,
    fromId: Actor,
    { messageId, message, to }: { messageId: string; message: SendMessageInput; to: Address },
  ): Promise<TeamMessage> {
    const by = addressOf({ memberId: fromId, teamId });
    const isRetry = await this.#ledger.view(to.teamId, ({ messages }) => messages.get(messageId)?.fromId === by);
    if (!isRetry) await this.#ledger.view(teamId, (state) => requirePeer(state, fromId, to.teamId));
    const { type: _type, ...said } = message;
    const command = { ...said, type: 'message.receive', by, messageId, toId: to.memberId } as const;
    return this.#ledger.execute(to.teamId, command, (state) => state.messages.get(messageId) as TeamMessage);
  }

  #memberOf({ memberId, teamId }: Address): Promise<string> {
    return this.#ledger.view(teamId, (state) => (memberId === LEAD ? requireTeam(state).leadId : memberId));
  }

  async #idleFeedback(teamId: string, command: Omit<CommandOf<'member.change'>, 'at'>): Promise<string | undefined> {
    if (!this.#gate) return undefined;
    const context = await this.#ledger.view(teamId, (state) => {
      // Don't ask the gate if going idle would be refused or change nothing.
      const isNew = decide(state, { at: this.#ledger.now(), ...command }).length > 0;
      return isNew ? idleContext(state, command.memberId) : undefined;
    });
    if (!context) return undefined;
    const verdict = await this.#gate.executeTeammateIdleHook(context);
    // A gate that cannot run would keep the member at work for nothing.
    if (verdict.unable !== undefined) return undefined;
    return verdict.exitCode === 2 ? feedbackOf(verdict) || 'Keep working.' : undefined;
  }

  #tell(name: 'message:sent' | 'message:delivered' | 'message:read', state: TeamState, ids: readonly string[]): void {
    if (this.listenerCount(name) > 0) emitAll(messagesOf(state, ids), (message) => this.emit(name, message));
  }
}

function idleContext(state: TeamState, memberId: string): TeammateIdleHookContext {
  const member = requireMember(state, memberId);
  const { counts } = state.index;
  const completed = [...state.tasks.values()].filter(
    (task) => task.status === 'completed' && task.assigneeId === memberId,
  );
  return {
    teamId: state.teamId,
    memberId,
    memberName: member.name,
    completedTaskIds: completed.map((task) => task.id),
    remainingTasks: counts.pending + counts.in_progress,
    idleSince: new Date(),
  };
}

function messagesOf(state: TeamState, ids: readonly string[]): TeamMessage[] {
  // Messages are never removed.
  return ids.map((id) => state.messages.get(id) as TeamMessage);
}

function idFor(options: { messageId?: string }): string {
  return options.messageId === undefined ? randomUUID() : parse(ChosenId, options.messageId);
}
