import type { MessageJson } from '../agents/agent.ts';
import { MESSAGES_PER_STEP } from '../core/limits.ts';
import type { Door } from './door.ts';

/** A member's messages: waiting ones are delivered together, once per session. */
export interface Mail {
  /** Takes the waiting messages in order; with `urgentOnly` only urgent ones. */
  take(sessionId: string, options?: { urgentOnly?: boolean }): Promise<MessageJson[]>;
  /** The agent has these messages. */
  acknowledge(messageIds: readonly string[]): Promise<void>;
  /**
   * A turn is over. Messages that the agent fetched in it with its tools are acknowledged if the turn went well;
   * otherwise they are delivered once more, marked.
   */
  endTurn(sessionId: string, options: { went: 'well' | 'badly' }): Promise<void>;
  /** The turn with these messages is over. Those that it did not show are delivered once more, marked. */
  doubt(messageIds: readonly string[]): void;
}

/** Enough for one prompt; the rest comes with the next. */
const PER_TURN = 20;

/** Opens a member's messages. Deliveries of an earlier process are settled first, by its transcript. */
export async function openMail(
  door: Door,
  who: { teamId: string; memberId: string },
  shown: ReadonlySet<string>,
): Promise<Mail> {
  /** Messages that this process put into turns; the agent's program reports when it has them. */
  const taken = new Set<string>();
  const acknowledge = async (messageIds: readonly string[]): Promise<void> => {
    for (const id of messageIds) taken.delete(id);
    if (messageIds.length > 0) {
      await door.call('message.acknowledge', { ...who, messageIds: [...messageIds], read: true });
    }
  };
  const waiting = (): Promise<MessageJson[]> => door.call('message.inbox', { ...who, waiting: true });

  const left = (await waiting()).filter((message) => message.deliveredAt !== undefined);
  await acknowledge(
    left
      .filter(({ id }) => shown.has(id))
      .slice(0, MESSAGES_PER_STEP)
      .map(({ id }) => id),
  );
  /** Delivered by an earlier process, but perhaps not shown: delivered once more, marked. */
  const open = new Set(left.map(({ id }) => id).filter((id) => !shown.has(id)));

  const doubted = new Set<string>();
  const doubt = (messageIds: readonly string[]): void => {
    // Only once: an agent that always fails must not get the same messages forever.
    for (const id of messageIds) if (!doubted.has(id)) open.add(id);
    for (const id of messageIds) doubted.add(id);
  };

  return {
    async take(sessionId, { urgentOnly = false } = {}) {
      const wanted = (await waiting())
        .filter((message) => message.deliveredAt === undefined || open.has(message.id))
        .filter((message) => !urgentOnly || message.priority === 'urgent')
        .slice(0, PER_TURN)
        .map(({ id }) => id);
      if (wanted.length === 0) return [];
      const redelivery = wanted.some((id) => open.has(id));
      for (const id of wanted) open.delete(id);
      for (const id of wanted) taken.add(id);
      return door.call('message.deliver', { ...who, messageIds: wanted, sessionId, redelivery });
    },
    acknowledge,
    doubt,
    async endTurn(sessionId, { went }) {
      const fetched = (await waiting())
        .filter((message) => message.sessionId === sessionId && !taken.has(message.id) && !open.has(message.id))
        .slice(0, MESSAGES_PER_STEP)
        .map(({ id }) => id);
      if (went === 'well') await acknowledge(fetched);
      else doubt(fetched);
    },
  };
}
