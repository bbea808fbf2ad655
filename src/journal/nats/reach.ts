import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { JournalAwayError } from '../away.ts';

/** A server answers a ping at once, whatever its streams do; with a busy machine between, within this. */
const PING_MS = 1_000;

/** A connection that is broken off because its server is silent is not broken off again before this is over. */
const BREAK_MS = 10_000;

/**
 * No election takes so long. A server that answers pings, or some of what it is asked, may be parted from the others, or (2.9.10,
 * when its configuration was read anew) not pass on what they answer: another one, or a new connection, may do better.
 */
const STUCK_MS = 12_000;

/** Answers that do not come belong together when there is less than this between them; some others may come meanwhile. */
const APART_MS = 15_000;

/** Whether any server can be reached, and since when there are no answers. Times are those of `performance.now`. */
export interface Reach {
  /** Since when none could be reached; undefined while one is there. */
  readonly awaySince: number | undefined;
  /** Since when nothing was answered that was asked, by a server that is there or by none. */
  readonly silentSince: number | undefined;
  /** An answer came. */
  heard(): void;
  /** What was asked at that time found no answer. `isTimeout`: nor a refusal; is the server there at all? */
  unheard(askedAt: number, options: { isTimeout: boolean }): Promise<void>;
  /**
   * What to tell whoever wants something while none can be reached. `tried`: it was sent, and
   * may arrive yet, or it was not.
   */
  error(options?: { tried?: boolean; cause?: unknown }): JournalAwayError;
}

/**
 * Watches the way to the servers. A stream without a leader answers nothing either, for seconds, and that passes by itself; so what counts
 * is the connection, and where it says nothing, a ping. One that is silent, or withholds answers for too long, is left for another
 * server, where there is one.
 */
export function watchReach(nc: NatsConnection, place: string): Reach {
  let isConnected = true;
  let awaySince: number | undefined;
  let silentSince: number | undefined;
  let brokenAt = -Infinity;
  /** From when to when answers have failed to come. */
  let lost: { from: number; to: number } | undefined;
  void (async () => {
    for await (const { type } of nc.status()) {
      if (type === 'disconnect') {
        isConnected = false;
        awaySince ??= performance.now();
      } else if (type === 'reconnect') {
        isConnected = true;
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
    return Promise.race([answered, sleep(PING_MS, false, { ref: false })]);
  }

  return {
    get awaySince() {
      return awaySince;
    },

    get silentSince() {
      return silentSince;
    },

    heard() {
      silentSince = undefined;
      if (isConnected) awaySince = undefined;
    },

    async unheard(askedAt, { isTimeout }) {
      silentSince ??= askedAt;
      if (!isTimeout || awaySince !== undefined || nc.isClosed()) return;
      const from = lost && askedAt - lost.to < APART_MS ? lost.from : askedAt;
      lost = { from, to: performance.now() };
      const isStuck = lost.to - from >= STUCK_MS;
      if (!isStuck && (await answersPing())) return;
      if (performance.now() - brokenAt < BREAK_MS || nc.isClosed()) return;
      lost = undefined;
      awaySince ??= isStuck ? performance.now() : askedAt;
      isConnected = false;
      brokenAt = performance.now();
      await nc.reconnect();
    },

    error({ tried, cause } = {}) {
      const when = new Date(performance.timeOrigin + (awaySince ?? performance.now()))
        .toISOString()
        .replace(/\.\d+/, '');
      const done = { true: ' Whether it was done will show when one answers.', false: ' Nothing was changed.' };
      const advice = 'see that nats-server runs there and that this machine reaches it; troupe doctor looks at both.';
      return new JournalAwayError(`The NATS servers at ${place} are not reachable (since ${when})`, {
        advice: `${advice}${tried === undefined ? '' : done[`${tried}`]}`,
        cause,
      });
    },
  };
}
