import { errors, headers } from '@nats-io/transport-node';
import { TeamError } from '../../core/errors.ts';
import { conflict } from '../conflict.ts';
import type { Seq } from '../journal.ts';
import type { Packed } from './batch.ts';
import { ENCODING } from './batch.ts';
import { AFTER, batchId } from './chain.ts';
import { isNobodyThere, isTransient, isWrongSequence, UnderWayError } from './errors.ts';
import { acknowledging, patiently } from './link.ts';
import type { Link } from './link.ts';
import { REQUEST_MS } from './reach.ts';
import { findStream } from './streams.ts';
import type { Life } from './streams.ts';

/** One attempt to append. */
export interface Attempt {
  readonly team: string;
  readonly encoded: string;
  readonly life: Life;
  readonly expected: Seq;
  /** The prefix of its message ids: never used for another batch. */
  readonly id: string;
  /** The id of the batch that it was decided after, if known. */
  readonly after: string | undefined;
}

/**
 * How often a message is sent under one id. Newer servers refuse an id that they believe is in progress (10158). If one
 * keeps the id of a message that was lost, it refuses it for as long as it remembers ids.
 */
const TRIES_PER_ID = 2;

/** About 100 bytes each. */
const MOST_REFUSED = 16_384;

/**
 * Appends a batch as one message after the stream's last one. The server compares the sequence *of the stream*:
 * comparing the subject's had two winners in 169 of 200 rounds on three replicas of 2.9.10.
 *
 * A publish without an answer may have been stored, or may be stored later. It is sent again, first under the same id,
 * then under other ids of the same attempt. At most one of them can follow the expected sequence. If the server then
 * answers "wrong sequence", the id of the message at that place tells whether it is ours, however long ago it was sent.
 */
export async function appendBatch(link: Link, attempt: Attempt, { data, encoding }: Packed): Promise<Seq> {
  const { life, expected, id, after } = attempt;
  const head = headers();
  if (after !== undefined) head.set(AFTER, after);
  if (encoding !== undefined) head.set(ENCODING, encoding);
  let unheard = 0;
  return patiently(link, async () => {
    try {
      const ack = await acknowledging(link, async () => {
        const answer = await link.js.publish(life.subject, data, {
          msgID: `${id}.${Math.floor(unheard / TRIES_PER_ID)}`,
          expect: { lastSequence: expected, streamName: life.stream },
          headers: head,
          timeout: REQUEST_MS,
        });
        // 2.10.27 treats an id that it has seen as a message that it has stored.
        if (answer.seq === 0) throw new UnderWayError();
        return answer;
      });
      if (ack.seq === expected + 1) return ack.seq;
      throw new TeamError('internal', `The server put batch ${expected + 1} of ${attempt.team} at ${ack.seq}.`);
    } catch (error) {
      if (isWrongSequence(error)) {
        if (unheard > 0 && (await isOurs(link, attempt))) return expected + 1;
        throw conflict(attempt.team, expected);
      }
      // There is no leader now, or the stream is gone. If it is gone, the team was dropped, and the batch has no place.
      if (isNobodyThere(error) && (await isGone(link, attempt))) throw conflict(attempt.team, expected);
      if (isTransient(error)) unheard++;
      if (error instanceof errors.TimeoutError) wakeLeader(link, life, unheard);
      throw error;
    }
  });
}

/**
 * Sends messages that the stream must refuse, more with each try. A server numbers its proposals to the replicas. On
 * 2.9.10 a server that becomes leader again without a restart continues with its old number. Proposals with too low a
 * number are discarded without an answer: as many as there were conflicts since it last led. These messages use up
 * those numbers.
 */
function wakeLeader({ nc }: Link, { subject, stream }: Life, tries: number): void {
  const head = headers();
  head.set('Nats-Expected-Stream', stream);
  head.set('Nats-Expected-Last-Sequence', String(Number.MAX_SAFE_INTEGER));
  const count = Math.min(8 ** (tries + 1), MOST_REFUSED);
  for (let sent = 0; sent < count; sent++) nc.publish(subject, '', { headers: head });
}

/** Whether the taken place holds our own earlier message. A new leader may know a message that it cannot show yet. */
async function isOurs(link: Link, { life, encoded, expected, id }: Attempt): Promise<boolean> {
  const there = await idAt(link, life, expected + 1);
  if (there !== undefined) return there === id;
  const found = await findStream(link, encoded, { wasThere: true });
  if (found?.subject === life.subject && found.end >= expected) throw new UnderWayError();
  return false;
}

/** The id of the batch that the stream's leader has at a place, if it belongs to this life. */
export async function idAt(link: Link, life: Life, seq: Seq): Promise<string | undefined> {
  const message = await patiently(link, () => link.jsm.streams.getMessage(life.stream, { seq }));
  return message?.subject === life.subject ? batchId(message.header) : undefined;
}

async function isGone(link: Link, { encoded, life }: Attempt): Promise<boolean> {
  return (await findStream(link, encoded, { wasThere: true }))?.subject !== life.subject;
}
