import { DeliverPolicy } from '@nats-io/jetstream';
import type { Consumer, ConsumerMessages } from '@nats-io/jetstream';
import type { Seq } from '../journal.ts';
import type { Message } from './batch.ts';
import type { Bells } from './bells.ts';
import { ANSWER, isAnswer } from './errors.ts';
import { patiently } from './link.ts';
import type { Link } from './link.ts';
import { readMessages } from './read.ts';
import type { Course } from './read.ts';
import { findStream } from './streams.ts';
import type { Life } from './streams.ts';

/** The server removes a consumer that was unused for this long. */
const FORGET_MS = 30_000;

/** Two missed heartbeats mean that the consumer, or its server, is gone. */
const HEARTBEAT_MS = 2_000;

/** Statuses of a consumer that delivers nothing any more. A new consumer continues its work. */
const BROKEN: readonly string[] = [
  'heartbeats_missed',
  'consumer_not_found',
  'stream_not_found',
  'consumer_deleted',
  'no_responders',
];

/**
 * The messages after `after`, in order and without a gap, then new ones, until the signal aborts or this life of the
 * team ends. It survives lost consumers and servers, within the link's patience. A consumer only signals that there is
 * something new; the content comes from the stream's leader (see `readMessages`), unless there is just one replica.
 */
export async function* flow(
  link: Link,
  course: Course,
  { signal, bells }: { signal: AbortSignal; bells: Pick<Bells, 'listen'> },
): AsyncGenerator<Message> {
  const { encoded, life } = course;
  let { after } = course;
  // No caller waits for future messages, so it may be patient.
  const patient = { ...link, awayMs: link.patienceMs };
  while (!signal.aborted) {
    // Listen before looking: a drop of the team rings the bell. A dropped consumer might otherwise show only as
    // silence.
    const rung = new AbortController();
    const stopListening = bells.listen(encoded, () => rung.abort());
    try {
      const found = await findStream(patient, encoded, { wasThere: true });
      if (found?.subject !== life.subject) return;
      for await (const message of readMessages(patient, { ...course, after })) {
        yield message;
        after = message.seq;
      }
      for await (const given of consume(patient, life, after + 1, AbortSignal.any([signal, rung.signal]))) {
        if (given.subject !== life.subject) break;
        if (given.seq <= after) continue;
        // With one replica, the leader would say the same.
        if (found.replicas === 1 && given.seq === after + 1) {
          yield given;
          after = given.seq;
          continue;
        }
        for await (const message of readMessages(patient, { ...course, after })) {
          yield message;
          after = message.seq;
        }
      }
    } finally {
      stopListening();
    }
  }
}

/** The same until the signal aborts, even while an answer is still pending. */
export async function* endWith<T>(source: AsyncGenerator<T>, signal: AbortSignal): AsyncGenerator<T> {
  try {
    for (;;) {
      const next = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        const stop = () => resolve(undefined);
        signal.addEventListener('abort', stop);
        if (signal.aborted) stop();
        source
          .next()
          .finally(() => signal.removeEventListener('abort', stop))
          .then(resolve, reject);
      });
      if (!next || next.done === true) return;
      yield next.value;
    }
  } finally {
    source.return(undefined).catch(() => {});
  }
}

/** The messages of one ordered consumer, until the signal aborts or the consumer breaks. */
async function* consume(link: Link, life: Life, from: Seq, signal: AbortSignal): AsyncGenerator<Message> {
  let consumer: Consumer | undefined;
  let messages: ConsumerMessages | undefined;
  const stop = () => messages?.stop();
  signal.addEventListener('abort', stop);
  try {
    consumer = await patiently(link, () =>
      link.js.consumers.get(life.stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from,
        inactive_threshold: FORGET_MS,
      }),
    );
    messages = await consumer.consume({ max_messages: 100, expires: 5 * HEARTBEAT_MS, idle_heartbeat: HEARTBEAT_MS });
    if (signal.aborted) return;
    void stopWhenBroken(messages);
    for await (const { seq, subject, data, headers } of messages) yield { seq, subject, data, headers };
  } catch (error) {
    // Dropped since it was found; the next look will tell.
    if (!isAnswer(error, ANSWER.streamNotFound)) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    messages?.stop();
    // Only for tidiness: the server removes it by itself.
    void consumer?.delete().catch(() => {});
  }
}

/** Ends the messages of a consumer that delivers nothing any more. */
export async function stopWhenBroken(messages: Pick<ConsumerMessages, 'status' | 'stop'>): Promise<void> {
  for await (const { type } of messages.status()) if (BROKEN.includes(type)) messages.stop();
}
