import type { EventOf } from '../../src/core/event.ts';

/** What messages promise, from the journal and from the conversations of agents. */
export class MailChecks {
  readonly #require: (holds: boolean, message: string) => void;
  readonly #sent = new Set<string>();
  /** The sessions that each message was delivered to, the last one at the end. */
  readonly #sessions = new Map<string, string[]>();
  /** How often each message was shown without a mark, by message, member and session. */
  readonly #shown = new Map<string, number>();

  constructor(require: (holds: boolean, message: string) => void) {
    this.#require = require;
  }

  isSent(id: string): boolean {
    return this.#sent.has(id);
  }

  sent({ copies }: EventOf<'message:sent'>): void {
    for (const { id } of copies) {
      this.#require(!this.#sent.has(id), `Message ${id} was stored twice`);
      this.#sent.add(id);
    }
  }

  delivered({ messageIds, sessionId }: EventOf<'message:delivered'>): void {
    for (const id of messageIds) this.#checkSession(id, sessionId);
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
    }
  }
}
