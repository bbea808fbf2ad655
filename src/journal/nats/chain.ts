import type { MsgHdrs } from '@nats-io/transport-node';
import { TeamError } from '../../core/errors.ts';
import type { Seq } from '../journal.ts';
import type { Message } from './batch.ts';
import type { Life } from './streams.ts';

/**
 * A header that names the batch before this one, as its writer saw it. After a network partition, servers may hold
 * different batches under one number for good. On 2.9.10 the server on the smaller side did so in 7 of 9 rounds, and
 * could become leader again. Numbers alone cannot show that.
 */
export const AFTER = 'Troupe-After';

/** After trouble, a server may serve data that the others do not know for this long. */
const SETTLED_MS = 5_000;

/** The last batch that was seen of a life, and when. */
interface Tip {
  readonly seq: Seq;
  readonly id: string;
  readonly seenAt: number;
}

/** The last batch seen of each team. */
export interface Tips {
  note(life: Life, tip: { seq: Seq; id: string | undefined }): void;
  /** The id of a batch, if it is the last one that was seen. */
  idOf(life: Life, seq: Seq): string | undefined;
  /** Whether the batch was seen before trouble or soon after it: then it may be gone. */
  isDoubtful(life: Life, seq: Seq, troubledAt: number): boolean;
}

/** `onNote` hears of every batch that is the last one seen of its life. */
export function openTips(onNote?: (subject: string, seq: Seq, id: string | undefined) => void): Tips {
  const tips = new Map<string, Tip>();
  const find = ({ subject }: Life, seq: Seq): Tip | undefined => {
    const tip = tips.get(subject);
    return tip?.seq === seq ? tip : undefined;
  };
  return {
    note({ subject }, { seq, id }) {
      const tip = tips.get(subject);
      // Someone reads old batches.
      if (tip && seq < tip.seq) return;
      onNote?.(subject, seq, id);
      if (id === undefined) tips.delete(subject);
      else tips.set(subject, { seq, id, seenAt: performance.now() });
    },
    idOf: (life, seq) => find(life, seq)?.id,
    isDoubtful(life, seq, troubledAt) {
      const tip = find(life, seq);
      return tip !== undefined && tip.seenAt < troubledAt + SETTLED_MS;
    },
  };
}

/** The id of a batch, the same for every time it was sent. */
export function batchId(headers: MsgHdrs | undefined): string | undefined {
  const id = headers?.get('Nats-Msg-Id') ?? '';
  const end = id.lastIndexOf('.');
  return end > 0 ? id.slice(0, end) : undefined;
}

/** Whether a batch was written after a different batch than this. Batches of older versions do not say. */
function isAfterAnother(message: Message, id: string | undefined): boolean {
  const after = message.headers?.get(AFTER) ?? '';
  return after !== '' && id !== undefined && after !== id;
}

/** Passes messages on, notes each one, and checks that it follows the one before. If not, calls `onFork` and ends. */
export async function* inOrder(
  messages: AsyncIterable<Message>,
  { life, before: first, onFork }: { life: Life; before?: string | undefined; onFork: (seq: Seq) => void },
  tips: Tips,
): AsyncGenerator<Message> {
  let before = first;
  for await (const message of messages) {
    if (isAfterAnother(message, before)) return onFork(message.seq);
    before = batchId(message.headers);
    tips.note(life, { seq: message.seq, id: before });
    yield message;
  }
}

/** The error for batches that do not form one history. */
export function forked(team: string, { stream }: Life, seq: Seq): TeamError {
  return new TeamError(
    'corrupt',
    `Batch ${seq} of team ${JSON.stringify(team)} on NATS does not follow the batch ${seq - 1} that the server shows: its servers hold ` +
      `different histories, which some versions do after a network partition. Let another server lead (nats stream cluster step-down ${stream}), ` +
      'then make the wrong one fetch everything again (nats stream cluster peer-remove). Other teams still work.',
  );
}
