import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { JournalAwayError } from '../away.ts';

/** The timeout of one request; after it the request is sent again. */
export const REQUEST_MS = 2_000;

/** A server answers a ping at once, whatever its streams do; on a busy machine, within this time. */
const PING_MS = 1_000;

/** After we dropped a connection because its server was silent, we do not drop the next one before this time. */
const BREAK_MS = 10_000;

/**
 * Longer than any election. A server that answers pings, or some requests, may be partitioned from the others. Or it
 * does not forward their answers (2.9.10, after it reloaded its configuration). Another server or a new connection may
 * do better.
 */
const STUCK_MS = 12_000;

/** How long a new connection, to another server if there is one, may try before the servers count as mute. */
const CHANCE_MS = 3_000;

/** While servers are reachable but mute, one caller per interval probes whether they still are. */
const PROBE_MS = 1_000;

/** Missing answers belong to one outage if less than this is between them; some answers may arrive meanwhile. */
const APART_MS = 15_000;

/** Whether any server is reachable, and since when answers are missing. Times are those of `performance.now`. */
export interface Reach {
  /** Since when no server is reachable; undefined while one is. */
  readonly awaySince: number | undefined;
  /** Since when no request was answered, whether a server is reachable or not. */
  readonly silentSince: number | undefined;
  /**
   * A server is reachable, but acknowledged no write for longer than an election takes: it has no quorum. It may still
   * answer reads (2.9.10 did so for half a minute), with old data.
   */
  readonly isMute: boolean;
  /** When the last trouble was: a connection lost or restored, an answer that did not come. */
  readonly troubledAt: number;
  /** Whether this caller may probe, while the servers are mute. */
  mayProbe(): boolean;
  /** A write was acknowledged; or one that was sent at that time was not. */
  acknowledged(): void;
  unacknowledged(askedAt: number): void;
  /** An answer came. */
  heard(): void;
  /** A request of that time got no answer. `isTimeout`: no refusal either, so the server itself may be gone. */
  unheard(askedAt: number, options: { isTimeout: boolean }): Promise<void>;
  /**
   * The error for callers while no server is reachable. `tried`: whether the request was sent, in which case it may
   * still arrive.
   */
  error(options?: { tried?: boolean; cause?: unknown }): JournalAwayError;
}

/**
 * Watches the connection to the servers. A stream without a leader does not answer for seconds either, and that passes
 * by itself. So what counts is the connection and, if it is silent, a ping. A server that is silent, or withholds
 * answers for too long, is replaced by another one if there is one.
 */
export function watchReach(
  nc: NatsConnection,
  place: string,
  { stuckMs = STUCK_MS }: { stuckMs?: number | undefined } = {},
): Reach {
  let awaySince: number | undefined;
  let silentSince: number | undefined;
  let brokenAt = -Infinity;
  /** The time span in which answers were missing. */
  let lost: { from: number; to: number } | undefined;
  /** The time span in which no write was acknowledged. */
  let mute: { from: number; to: number } | undefined;
  let probedAt = -Infinity;
  let troubledAt = -Infinity;
  void (async () => {
    for await (const { type } of nc.status()) {
      if (type === 'disconnect' || type === 'reconnect') troubledAt = performance.now();
      if (type === 'disconnect') {
        awaySince ??= performance.now();
      } else if (type === 'reconnect') {
        awaySince = undefined;
        lost = undefined;
      }
    }
  })();

  async function answersPing(): Promise<boolean> {
    const answered = nc.flush().then(
      () => true,
      () => false,
    );
    // After the process was suspended or starved, timers fire before the data that arrived meanwhile is read.
    const late = sleep(PING_MS, undefined, { ref: false }).then(() => setImmediate(false));
    return Promise.race([answered, late]);
  }

  return {
    get awaySince() {
      return awaySince;
    },

    get silentSince() {
      return silentSince;
    },

    get isMute() {
      return mute !== undefined && mute.to - mute.from >= stuckMs + CHANCE_MS;
    },

    get troubledAt() {
      return troubledAt;
    },

    mayProbe() {
      if (performance.now() - probedAt < PROBE_MS) return false;
      probedAt = performance.now();
      return true;
    },

    acknowledged() {
      mute = undefined;
    },

    unacknowledged(askedAt) {
      troubledAt = performance.now();
      mute = extend(mute, askedAt);
    },

    heard() {
      silentSince = undefined;
    },

    async unheard(askedAt, { isTimeout }) {
      troubledAt = performance.now();
      silentSince ??= askedAt;
      if (!isTimeout || awaySince !== undefined) return;
      lost = extend(lost, askedAt);
      const isStuck = lost.to - lost.from >= stuckMs;
      if (!isStuck && (await answersPing())) return;
      if (performance.now() - brokenAt < BREAK_MS || nc.isClosed()) return;
      lost = undefined;
      awaySince ??= isStuck ? performance.now() : askedAt;
      brokenAt = performance.now();
      await nc.reconnect();
    },

    error({ tried, cause } = {}) {
      const since = awaySince ?? mute?.from ?? performance.now();
      const when = new Date(performance.timeOrigin + since).toISOString().replace(/\.\d+/, '');
      const isThere = awaySince === undefined && mute !== undefined;
      const situation = isThere ? 'acknowledge nothing' : 'are not reachable';
      const done = { true: ' It is unknown whether it was done until one answers.', false: ' Nothing was changed.' };
      const advice = isThere
        ? 'check that most of them run and reach each other; troupe doctor tests them.'
        : 'check that nats-server runs there and that this machine reaches it; troupe doctor tests both.';
      return new JournalAwayError(`The NATS servers at ${place} ${situation} (since ${when})`, {
        advice: `${advice}${tried === undefined ? '' : done[`${tried}`]}`,
        cause,
      });
    },
  };
}

/**
 * Extends the span by another missing answer to a request of that time. One request counts for at most its timeout:
 * if this process was suspended meanwhile, the servers are not to blame.
 */
function extend(span: { from: number; to: number } | undefined, askedAt: number): { from: number; to: number } {
  const to = Math.min(performance.now(), askedAt + REQUEST_MS);
  return { from: span && askedAt - span.to < APART_MS ? span.from : askedAt, to };
}
