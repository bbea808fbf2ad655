import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { backOff } from '../../core/back-off.ts';
import { TeamError } from '../../core/errors.ts';
import { showAddress } from './address.ts';
import type { NatsAddress } from './address.ts';
import { connectTo, orderServers } from './connect.ts';
import { ANSWER, isAnswer, isNotEnabled, isTransient, toTeamError } from './errors.ts';
import { namesOf } from './names.ts';
import type { Names } from './names.ts';
import { REQUEST_MS, watchReach } from './reach.ts';
import type { Reach } from './reach.ts';

/** How long a link keeps trying. */
export interface Timing {
  /** While servers are away or elect a leader; after one was killed an election took 4.5 to 7 s. */
  readonly patienceMs: number;
  /** While no server is reachable, which no election ends. At most `patienceMs`. */
  readonly awayMs?: number;
  /** The connection is replaced after this many milliseconds without an answer. Longer than an election takes. */
  readonly stuckMs?: number;
  /** While a running server has no JetStream yet. */
  readonly jetstreamMs?: number;
}

/** The connection to the servers, and its clients. */
export interface Link {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly names: Names;
  /** The servers' address, for messages to people. */
  readonly place: string;
  readonly patienceMs: number;
  readonly reach: Reach;
  readonly awayMs: number;
  /** Sends requests even while writes are not acknowledged: daemons' heartbeats find out when that is over. */
  readonly persists?: boolean;
  /** Aborts when the journal closes. */
  readonly closing: AbortSignal;
}

/** A person in front of a screen gets the error after this time; background work tries again. */
const AWAY_MS = 3_000;

/** A server may be up before its JetStream is. */
const JETSTREAM_MS = 5_000;

/** Right after an election, clusters of 2.10 briefly do not know their other servers. */
const PEERS_MS = 5_000;

const PAUSE_MS = { least: 100, most: 500 };

/**
 * Connects and checks for JetStream. It tries each server in turn, because one that is partitioned from the others may
 * know of no JetStream. `closing` cancels work in progress; `close` ends the connection.
 */
export async function openLink(address: NatsAddress, options: Timing & { closing: AbortSignal }): Promise<Link> {
  return openInTurn(address, await orderServers(address), options);
}

/** The same, with the servers in the order in which to try them. */
export async function openInTurn(
  address: NatsAddress,
  servers: readonly string[],
  options: Timing & { closing: AbortSignal },
): Promise<Link> {
  for (let turn = 0; ; turn++) {
    const from = [...servers.slice(turn), ...servers.slice(0, turn)];
    try {
      return await openLinkTo(address, from, options);
    } catch (error) {
      if (turn === servers.length - 1 || options.closing.aborted) throw error;
    }
  }
}

async function openLinkTo(
  address: NatsAddress,
  servers: readonly string[],
  { patienceMs, awayMs = AWAY_MS, jetstreamMs = JETSTREAM_MS, stuckMs, closing }: Timing & { closing: AbortSignal },
): Promise<Link> {
  const nc = await connectTo(address, servers);
  const place = showAddress(address);
  try {
    const js = jetstream(nc, { timeout: REQUEST_MS });
    const jsm = await js.jetstreamManager(false);
    const reach = watchReach(nc, place, { stuckMs });
    const names = namesOf(address.prefix);
    const link = { nc, js, jsm, names, place, reach, patienceMs, awayMs: Math.min(awayMs, patienceMs), closing };
    await patiently({ ...link, patienceMs: jetstreamMs }, () => jsm.getAccountInfo());
    return link;
  } catch (error) {
    await nc.close();
    if (!isNotEnabled(error)) throw toTeamError(error, place, 'use JetStream');
    throw new TeamError(
      'storage',
      `${place} is a NATS server without JetStream, which a journal needs. ` +
        'Give its configuration a jetstream block (troupe journal init writes one), or name another server.',
      { cause: error },
    );
  }
}

/** Retries `work` on errors that are transient, in general or by `passes`. Only for idempotent work. */
export async function patiently<T>(
  link: Link,
  work: (attempt: number) => Promise<T>,
  passes: (error: unknown) => boolean = () => false,
): Promise<T> {
  const began = performance.now();
  for (let attempt = 1; ; attempt++) {
    await untilBack(link);
    if (isAway(link) || isMute(link)) throw link.reach.error({ tried: attempt > 1 });
    const askedAt = performance.now();
    try {
      const answer = await work(attempt);
      link.reach.heard();
      return answer;
    } catch (error) {
      const isPassing = isTransient(error) || passes(error);
      if (isTransient(error)) {
        await link.reach.unheard(askedAt, { isTimeout: error instanceof errors.TimeoutError });
        if (isAway(link) || link.reach.isMute) throw link.reach.error({ tried: true, cause: error });
      }
      const patienceMs = isAnswer(error, ANSWER.noSuitablePeers) ? PEERS_MS : isPassing ? link.patienceMs : 0;
      // An outage longer than an election is no election: later callers need not wait as long again.
      const from = Math.min(began, link.reach.silentSince ?? began);
      if (performance.now() - from >= patienceMs || link.nc.isClosed()) throw error;
      await sleep(backOff(attempt, PAUSE_MS, Math.random()));
    }
  }
}

/** Sends nothing while there is no connection: the request would wait for one and come too late for its caller. */
async function untilBack(link: Link): Promise<void> {
  while (link.reach.awaySince !== undefined && !isAway(link) && !link.nc.isClosed()) await sleep(PAUSE_MS.least / 2);
}

function isAway({ reach: { awaySince }, awayMs }: Link): boolean {
  return awaySince !== undefined && performance.now() - awaySince >= awayMs;
}

function isMute({ reach, persists = false }: Link): boolean {
  return reach.isMute && !persists && !reach.mayProbe();
}

/** Does a write and records whether it was acknowledged. */
export async function acknowledging<T>({ reach }: Link, write: () => Promise<T>): Promise<T> {
  const askedAt = performance.now();
  try {
    const answer = await write();
    reach.acknowledged();
    return answer;
  } catch (error) {
    // A refusal proves nothing: a deposed leader may still send one.
    if (isTransient(error)) reach.unacknowledged(askedAt);
    throw error;
  }
}
