import type { MsgHdrs } from '@nats-io/transport-node';
import { TeamError } from '../../core/errors.ts';
import type { Seq } from '../journal.ts';
import type { Message } from './batch.ts';
import type { Life } from './streams.ts';

/**
 * Names the batch that was the last one when this one was decided. Servers that were parted may hold different batches in one place for
 * good: on 2.9.10 the one on the smaller side did so in 7 of 9 rounds, and could lead the stream again. Then numbers alone tell nobody.
 */
export const AFTER = 'Troupe-After';

/** After trouble a server may go on for so long with what the others do not know. */
const SETTLED_MS = 5_000;

/** The last batch of a life that was seen, and when. */
interface Tip {
  readonly seq: Seq;
  readonly id: string;
  readonly seenAt: number;
}

/** What was last seen of each team. */
export interface Tips {
  note(life: Life, tip: { seq: Seq; id: string | undefined }): void;
  /** The id of a batch, where it is the last one that was seen. */
  idOf(life: Life, seq: Seq): string | undefined;
  /** Whether it was seen before, or soon after, something was amiss: then it may not be there any more. */
  isDoubtful(life: Life, seq: Seq, troubledAt: number): boolean;
}

export function openTips(): Tips {
  const tips = new Map<string, Tip>();
  const find = ({ subject }: Life, seq: Seq): Tip | undefined => {
    const tip = tips.get(subject);
    return tip?.seq === seq ? tip : undefined;
  };
  return {
    note({ subject }, { seq, id }) {
      // Somebody reads what was long ago.
      if (seq < (tips.get(subject)?.seq ?? 0)) return;
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

/** What tells a batch from all others, however often it was sent. */
export function batchId(headers: MsgHdrs | undefined): string | undefined {
  const id = headers?.get('Nats-Msg-Id') ?? '';
  const end = id.lastIndexOf('.');
  return end > 0 ? id.slice(0, end) : undefined;
}

/** Whether a batch was written after another one than this; those of older versions do not say. */
function isAfterAnother(message: Message, id: string | undefined): boolean {
  const after = message.headers?.get(AFTER) ?? '';
  return after !== '' && id !== undefined && after !== id;
}

/** The same messages, noted, and each seen to follow the one before it; ends, or says what is wrong, where one does not. */
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

/** What cannot be read as one history. */
export function forked(team: string, { stream }: Life, seq: Seq): TeamError {
  return new TeamError(
    'corrupt',
    `Batch ${seq} of team ${JSON.stringify(team)} on NATS was not written after the batch ${seq - 1} that the server shows: its servers hold ` +
      `different histories, as some versions do after they were parted. Let another one lead (nats stream cluster step-down ${stream}), ` +
      'then have the one that is wrong fetch all anew (nats stream cluster peer-remove). Other teams can go on.',
  );
}
