import { setTimeout as sleep } from 'node:timers/promises';
import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { nuid } from '@nats-io/transport-node';
import { ANSWER, isAnswer } from './errors.ts';
import type { Settings } from './found.ts';
import { patiently } from './link.ts';
import type { Link } from './link.ts';
import { decodeTeam } from './names.ts';

/** How long the server remembers message ids. The journal does not rely on it: see `appendBatch`. */
const DUPLICATES_NS = 2 * 60 * 1_000_000_000;

/** One life of a team: from its first batch until it is dropped. */
export interface Life {
  readonly stream: string;
  readonly subject: string;
}

/** A life, how many batches it has, and how many servers keep it. */
export interface Found extends Life {
  readonly end: number;
  readonly replicas: number;
}

/**
 * A cluster that has just lost its leader, or is overloaded, may say that a stream does not exist. That was seen once,
 * for a team that had been acknowledged, on 2.9.10 with three servers on two busy CPUs. So we ask again for known
 * streams, also for those that only the mark or the list of teams names: such servers deny a team to a new daemon too.
 */
const DOUBTS = { times: 5, pauseMs: 150 };

/**
 * The team that has this stream now. A stream without batches was created but never used: it is no team. With
 * `wasThere`, for a stream that was seen before, it asks several times before it reports that the stream is gone.
 */
export async function findStream(
  link: Link,
  encoded: string,
  { wasThere = false }: { wasThere?: boolean } = {},
): Promise<Found | undefined> {
  const look = () => infoOf(link, link.names.stream(encoded));
  const info = await (wasThere ? doubting(link, look, Boolean) : look());
  return info && foundIn(info);
}

/** Asks a cluster several times before it believes an answer that is not as expected. */
export async function doubting<T>(link: Link, ask: () => Promise<T>, isExpected: (answer: T) => boolean): Promise<T> {
  const doubts = isCluster(link) ? DOUBTS.times : 0;
  for (let asked = 0; ; asked++) {
    const answer = await ask();
    if (isExpected(answer) || asked >= doubts || link.closing.aborted) return answer;
    await sleep(DOUBTS.pauseMs);
  }
}

/** Whether the server is one of several. Without a connection it is not known. */
export function isCluster({ nc }: Link): boolean {
  return nc.info?.cluster !== undefined;
}

/** Creates the team's stream, or returns the existing one. */
export async function makeStream(
  link: Link,
  team: string,
  { encoded, settings }: { encoded: string; settings: Settings },
): Promise<Found> {
  const stream = link.names.stream(encoded);
  const config: Partial<StreamConfig> & { name: string } = {
    name: stream,
    description: JSON.stringify({ team }),
    subjects: [link.names.subject(encoded, nuid.next())],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // A full stream refuses new messages: a journal never discards its beginning to make room.
    discard: DiscardPolicy.New,
    num_replicas: settings.replicas,
    duplicate_window: DUPLICATES_NS,
    max_bytes: settings.maxBytes ?? -1,
    deny_delete: true,
    deny_purge: true,
    // With direct access any replica could answer, even one that lags behind.
    allow_direct: false,
  };
  const make = async (): Promise<Found> => {
    try {
      return foundIn(await link.jsm.streams.add(config));
    } catch (error) {
      const present = isAnswer(error, ANSWER.streamNameInUse) && (await findStream(link, encoded));
      if (present) return present;
      throw error;
    }
  };
  // Dropped in between, or being created by another daemon: clusters of 2.15 refuse the name before they show the
  // stream.
  return patiently(link, make, (error) => isAnswer(error, ANSWER.streamNameInUse));
}

/** Removes a stream, if it is there. */
export async function deleteStream(link: Link, stream: string): Promise<void> {
  await patiently(link, async () => {
    try {
      await link.jsm.streams.delete(stream);
    } catch (error) {
      if (!isAnswer(error, ANSWER.streamNotFound)) throw error;
    }
  });
}

/** The names of all teams that have a batch. Stream names are enough, except for extremely long team names. */
export async function listTeams(link: Link, known: Set<string>): Promise<string[]> {
  const streams = await listStreams(link);
  const teams = await Promise.all(
    streams.map(async ({ stream, encoded }) => {
      const team = decodeTeam(encoded);
      if (team !== undefined && known.has(stream)) return team;
      // It was listed a moment ago, so it is asked for again before it counts as gone.
      const info = await doubting(link, () => infoOf(link, stream), Boolean);
      if (!info?.state.last_seq) return undefined;
      known.add(stream);
      return team ?? teamIn(info.config);
    }),
  );
  return teams.filter((team) => team !== undefined).sort();
}

/** The team of a stream: from the stream's name or, if that is a hash, from its description. */
export function teamIn({ name, description }: Pick<StreamConfig, 'name' | 'description'>): string {
  const team = decodeTeam(name.slice(name.indexOf('_') + 1));
  return team ?? (JSON.parse(description ?? '{}') as { team?: string }).team ?? name;
}

/** The streams of this journal's teams. */
export function listStreams(link: Link): Promise<{ stream: string; encoded: string }[]> {
  return patiently(link, async () => {
    const found: { stream: string; encoded: string }[] = [];
    for await (const stream of link.jsm.streams.names(link.names.subjects)) {
      const encoded = link.names.teamOf(stream);
      if (encoded !== undefined) found.push({ stream, encoded });
    }
    return found;
  });
}

/** A stream's configuration and state; undefined if it does not exist. */
export function infoOf(link: Link, stream: string): Promise<StreamInfo | undefined> {
  return patiently(link, async () => {
    try {
      return await link.jsm.streams.info(stream);
    } catch (error) {
      if (isAnswer(error, ANSWER.streamNotFound)) return undefined;
      throw error;
    }
  });
}

function foundIn({ config, state }: StreamInfo): Found {
  return {
    stream: config.name,
    subject: config.subjects[0] as string,
    end: state.last_seq,
    replicas: config.num_replicas,
  };
}
