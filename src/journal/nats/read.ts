import type { MsgRequest } from '@nats-io/jetstream';
import type { Seq } from '../journal.ts';
import { corruptBatch } from './batch.ts';
import type { Message } from './batch.ts';
import { ANSWER, isAnswer } from './errors.ts';
import { patiently } from './link.ts';
import type { Link } from './link.ts';
import { findStream } from './streams.ts';
import type { Life } from './streams.ts';

/** A team, one life of it, and the position to read from. */
export interface Course {
  readonly team: string;
  readonly encoded: string;
  readonly life: Life;
  readonly after: Seq;
}

/** A message takes 0.2 ms if many are requested together, and a round trip if requested alone. */
const TOGETHER = 128;

/**
 * The messages after `after` that exist now. Mostly a ledger asks whether there is one more, which takes one round
 * trip. The stream's leader answers, so every acknowledged message is visible. A consumer would be faster for many
 * messages, but it reads from any replica, and on some versions replicas differ (see `AFTER`).
 */
export async function* readMessages(link: Link, course: Course): AsyncGenerator<Message> {
  const { life, after, team } = course;
  const [next, last] = await Promise.all([
    getMessage(link, course, { seq: after + 1 }),
    getMessage(link, course, { last_by_subj: life.subject }),
  ]);
  if (last === undefined || last.seq <= after) return;
  // It may have been stored between the two answers.
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

/** The messages from `from` up to, but not including, `to`. */
async function* readSome(link: Link, course: Course, [from, to]: [Seq, Seq]): AsyncGenerator<Message> {
  const seqs = Array.from({ length: to - from }, (_, i) => from + i);
  const messages = await Promise.all(seqs.map((seq) => getMessage(link, course, { seq })));
  for (const [i, message] of messages.entries()) {
    if (message === undefined) throw corruptBatch(course.team, seqs[i] as Seq, 'it is missing');
    yield message;
  }
}

/** The message, if it belongs to this life of the team. */
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
