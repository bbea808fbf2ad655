import type { MsgRequest } from '@nats-io/jetstream';
import type { Seq } from '../journal.ts';
import { corruptBatch } from './batch.ts';
import type { Message } from './batch.ts';
import { ANSWER, isAnswer } from './errors.ts';
import { patiently } from './link.ts';
import type { Link } from './link.ts';
import { findStream } from './streams.ts';
import type { Life } from './streams.ts';

/** Which team, which life of it, and from where. */
export interface Course {
  readonly team: string;
  readonly encoded: string;
  readonly life: Life;
  readonly after: Seq;
}

/** Asked for together a message takes 0.2 ms; one after the other, a round trip. */
const TOGETHER = 128;

/**
 * The messages after `after` that are there now. Mostly a ledger asks whether there is one more: that takes one round trip.
 * The stream's leader answers, so what was acknowledged is seen. A consumer would be quicker where there are many, but reads
 * from any replica, and not all of them hold the same on all versions (see `AFTER`).
 */
export async function* readMessages(link: Link, course: Course): AsyncGenerator<Message> {
  const { life, after, team } = course;
  const [next, last] = await Promise.all([
    getMessage(link, course, { seq: after + 1 }),
    getMessage(link, course, { last_by_subj: life.subject }),
  ]);
  if (last === undefined || last.seq <= after) return;
  // It may have come between the two answers.
  const first = next ?? (await getMessage(link, course, { seq: after + 1 }));
  if (first === undefined) {
    if ((await getMessage(link, course, { last_by_subj: life.subject })) === undefined) return;
    throw corruptBatch(team, after + 1, 'it is missing');
  }
  yield first;
  for (let from = first.seq + 1; from < last.seq; from += TOGETHER) {
    yield* readSome(link, course, [from, Math.min(from + TOGETHER, last.seq)]);
  }
  if (last.seq > first.seq) yield last;
}

/** The messages from one on and before another. */
async function* readSome(link: Link, course: Course, [from, to]: [Seq, Seq]): AsyncGenerator<Message> {
  const seqs = Array.from({ length: to - from }, (_, i) => from + i);
  const messages = await Promise.all(seqs.map((seq) => getMessage(link, course, { seq })));
  for (const [i, message] of messages.entries()) {
    if (message === undefined) throw corruptBatch(course.team, seqs[i] as Seq, 'it is missing');
    yield message;
  }
}

/** The message, if there is one of this life of the team. */
async function getMessage(link: Link, { encoded, life }: Course, query: MsgRequest): Promise<Message | undefined> {
  for (;;) {
    try {
      const message = await patiently(link, () => link.jsm.streams.getMessage(life.stream, query));
      if (message?.subject !== life.subject) return undefined;
      return { seq: message.seq, subject: message.subject, data: message.data, headers: message.header };
    } catch (error) {
      if (!isAnswer(error, ANSWER.streamNotFound)) throw error;
      const found = await findStream(link, encoded, { wasThere: true });
      if (found?.subject !== life.subject) return undefined;
    }
  }
}
