import { errors, headers } from '@nats-io/transport-node';
import { TeamError } from '../../core/errors.ts';
import type { Seq } from '../journal.ts';
import type { Packed } from './batch.ts';
import { ENCODING } from './batch.ts';
import { AFTER, batchId } from './chain.ts';
import { isNobodyThere, isTransient, isWrongSequence, UnderWayError } from './errors.ts';
import { acknowledging, patiently, REQUEST_MS } from './link.ts';
import type { Link } from './link.ts';
import { findStream } from './streams.ts';
import type { Life } from './streams.ts';

/** What identifies one attempt to append. */
export interface Attempt {
  readonly team: string;
  readonly encoded: string;
  readonly life: Life;
  readonly expected: Seq;
  /** What the ids of its messages begin with: never used for another batch. */
  readonly id: string;
  /** The id of the batch that it was decided after, where that is known. */
  readonly after: string | undefined;
}

/**
 * Under one id a message is sent so often. Newer servers refuse an id that they think is under way (10158); should one hold on
 * to it although its message was lost, it would be so for as long as it remembers ids.
 */
const TRIES_PER_ID = 2;

/** 100 bytes each. */
const MOST_REFUSED = 16_384;

/**
 * Appends a batch as one message after the stream's last one. The sequence *of the stream* is what is compared: that of a
 * subject had two winners in 169 of 200 rounds on three replicas of 2.9.10.
 *
 * A publish without an answer may have been stored, or may be yet. It is sent again, first under the same id, then under
 * others of the same attempt: of all of them one at most can follow the expected sequence. Should the answer be that the
 * sequence is wrong, the message in its place tells by its id whether it was ours, however long ago.
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
        // 2.10.27 takes an id that it has seen for a message that it has stored.
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
      // No leader, or no such stream any more: then its team was dropped, and the batch belongs nowhere.
      if (isNobodyThere(error) && (await isGone(link, attempt))) throw conflict(attempt.team, expected);
      if (isTransient(error)) unheard++;
      if (error instanceof errors.TimeoutError) wakeLeader(link, life, unheard);
      throw error;
    }
  });
}

/**
 * Sends messages that the stream must refuse, more with each try. A server numbers what it proposes to the replicas; one of
 * 2.9.10 that leads again without having been restarted goes on with its old number, and what is numbered too low is thrown
 * away without an answer: as many messages as there were conflicts since it led last. These are for it to throw away.
 */
function wakeLeader({ nc }: Link, { subject, stream }: Life, tries: number): void {
  if (nc.isClosed()) return;
  const head = headers();
  head.set('Nats-Expected-Stream', stream);
  head.set('Nats-Expected-Last-Sequence', String(Number.MAX_SAFE_INTEGER));
  const count = Math.min(8 ** (tries + 1), MOST_REFUSED);
  for (let sent = 0; sent < count; sent++) nc.publish(subject, '', { headers: head });
}

/** An append that came too late. */
export function conflict(team: string, expected: Seq): TeamError {
  const name = JSON.stringify(team);
  return new TeamError(
    'journal_conflict',
    `Batch ${expected} is not the last of team ${name}: read on and decide again.`,
  );
}

/** Whether the place that is taken has what we sent before. A new leader may know of a message that it cannot show yet. */
async function isOurs(link: Link, { life, encoded, expected, id }: Attempt): Promise<boolean> {
  const there = await idAt(link, life, expected + 1);
  if (there !== undefined) return there === id;
  const found = await findStream(link, encoded, { wasThere: true });
  if (found?.subject === life.subject && found.end >= expected) throw new UnderWayError();
  return false;
}

/** Which batch the stream's leader has in a place, if any of this life. */
export async function idAt(link: Link, life: Life, seq: Seq): Promise<string | undefined> {
  const message = await patiently(link, () => link.jsm.streams.getMessage(life.stream, { seq }));
  return message?.subject === life.subject ? batchId(message.header) : undefined;
}

async function isGone(link: Link, { encoded, life }: Attempt): Promise<boolean> {
  return (await findStream(link, encoded, { wasThere: true }))?.subject !== life.subject;
}
