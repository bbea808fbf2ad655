import type { MsgRequest } from '@nats-io/jetstream';
import type { Seq } from '../journal.ts';
import { corruptBatch } from './batch.ts';
import type { Message } from './batch.ts';
import { ANSWER, isAnswer } from './errors.ts';
import { flow } from './flow.ts';
import type { Course } from './flow.ts';
import { patiently } from './link.ts';
import type { Link } from './link.ts';
import { findStream } from './streams.ts';

/** Making a consumer costs as much as asking for so many messages one by one (0.2 ms each when asked together). */
const FEW = 16;

/**
 * The messages after `after` that are there now. Mostly a ledger asks whether there is one more: that takes one round trip.
 * The stream's leader answers, so what was acknowledged is seen.
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
  if (last.seq === first.seq) return;
  if (last.seq - first.seq > FEW) yield* readMany(link, { ...course, after: first.seq }, last.seq);
  else {
    yield* readFew(link, course, [first.seq, last.seq]);
    yield last;
  }
}

/** What lies between two messages. */
async function* readFew(link: Link, course: Course, [from, to]: [Seq, Seq]): AsyncGenerator<Message> {
  const seqs = Array.from({ length: to - from - 1 }, (_, i) => from + 1 + i);
  const messages = await Promise.all(seqs.map((seq) => getMessage(link, course, { seq })));
  for (const [i, message] of messages.entries()) {
    if (message === undefined) throw corruptBatch(course.team, seqs[i] as Seq, 'it is missing');
    yield message;
  }
}

async function* readMany(link: Link, course: Course, end: Seq): AsyncGenerator<Message> {
  const stop = new AbortController();
  try {
    for await (const message of flow(link, course, AbortSignal.any([stop.signal, link.closing]))) {
      yield message;
      if (message.seq >= end) return;
    }
  } finally {
    stop.abort();
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
