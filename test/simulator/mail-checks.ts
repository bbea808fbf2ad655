import { SYSTEM } from '../../src/core/actor.ts';
import type { EventOf } from '../../src/core/event.ts';
import type { TeamMessage } from '../../src/core/message.ts';
import type { TeamState } from '../../src/core/state.ts';

/** What messages promise, from the journal and from the conversations of agents. */
export class MailChecks {
  readonly #state: TeamState;
  readonly #require: (holds: boolean, message: string) => void;
  readonly #sent = new Set<string>();
  /** Messages that nobody has got yet, in the order of sending, by sender and recipient. */
  readonly #waiting = new Map<string, Set<string>>();
  /** The sessions that each message was delivered to, the last one at the end. */
  readonly #sessions = new Map<string, string[]>();
  /** How often each message was shown without a mark, by message, member and session. */
  readonly #shown = new Map<string, number>();
  /** The last messages that were shown without a mark, by sender, recipient and session: of any priority, and ones that are not urgent. */
  readonly #last = new Map<string, { any: number; normal: number }>();

  constructor(state: TeamState, require: (holds: boolean, message: string) => void) {
    this.#state = state;
    this.#require = require;
  }

  isSent(id: string): boolean {
    return this.#sent.has(id);
  }

  sent({ copies, by }: EventOf<'message:sent'>): void {
    for (const { id, toId } of copies) {
      this.#require(!this.#sent.has(id), `Message ${id} was stored twice`);
      this.#sent.add(id);
      const pair = `${by} to ${toId}`;
      this.#waiting.set(pair, (this.#waiting.get(pair) ?? new Set()).add(id));
    }
  }

  delivered({ messageIds, sessionId, redelivery, by }: EventOf<'message:delivered'>): void {
    for (const id of messageIds) {
      this.#checkSession(id, sessionId);
      // What a native has is in its file; the journal hears of it later, and of each entry by itself.
      if (redelivery !== true && by !== SYSTEM) this.#checkTurn(id);
      this.left([id]);
    }
  }

  /** Nobody waits for these messages any more. */
  left(messageIds: readonly string[]): void {
    for (const id of messageIds) {
      const message = this.#state.messages.get(id);
      if (message) this.#waiting.get(pairOf(message))?.delete(id);
    }
  }

  /** The first delivery of a message follows those of all earlier ones between the same two. Only urgent ones overtake. */
  #checkTurn(id: string): void {
    const message = this.#state.messages.get(id);
    if (!message) return;
    for (const earlier of this.#waiting.get(pairOf(message)) ?? []) {
      if (earlier === id) return;
      const isOvertaken = isUrgent(message) && !isUrgent(this.#state.messages.get(earlier));
      this.#require(isOvertaken, `Message ${id} (${pairOf(message)}) is delivered before ${earlier}`);
    }
  }

  /** A message that went on to another session does not come back: two sessions would show it in turn. */
  #checkSession(messageId: string, sessionId: string): void {
    const before = this.#sessions.get(messageId) ?? [];
    if (before.at(-1) === sessionId) return;
    this.#require(!before.includes(sessionId), `Message ${messageId} went back to session ${sessionId}`);
    this.#sessions.set(messageId, [...before, sessionId]);
  }

  /** An agent has these messages in its conversation. */
  shown(memberId: string, sessionId: string, messages: readonly { id: string; redeliveries?: number }[]): void {
    for (const { id, redeliveries = 0 } of messages) {
      const key = `${id} to ${memberId} in ${sessionId}`;
      const times = (this.#shown.get(key) ?? 0) + (redeliveries > 0 ? 0 : 1);
      this.#shown.set(key, times);
      this.#require(times <= 1, `Message ${id} was shown to ${memberId} ${times} times without a mark`);
      if (redeliveries === 0) this.#checkOrder(id, sessionId);
    }
  }

  /**
   * A session sees the messages of one sender in their order. A marked one may come later than it was sent: the first
   * try to show it failed. An urgent one overtakes those that are not. A process whose machine slept may show late what
   * another process has shown marked meanwhile.
   */
  #checkOrder(id: string, sessionId: string): void {
    const message = this.#state.messages.get(id);
    if (!message || message.redeliveries > 0) return;
    const key = `${pairOf(message)} in ${sessionId}`;
    const last = this.#last.get(key) ?? { any: 0, normal: 0 };
    const before = isUrgent(message) ? last.any : last.normal;
    this.#require(message.order > before, `Message ${id} (${key}) is shown after a later one`);
    last.any = Math.max(last.any, message.order);
    if (!isUrgent(message)) last.normal = message.order;
    this.#last.set(key, last);
  }
}

function pairOf({ fromId, toId }: TeamMessage): string {
  return `${fromId} to ${toId}`;
}

function isUrgent(message: TeamMessage | undefined): boolean {
  return message?.priority === 'urgent';
}
