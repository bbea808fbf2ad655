import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
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

/** How long a new connection, to another server where there is one, has its chance before servers count as mute. */
const CHANCE_MS = 3_000;

/** While servers are there and answer nothing, one of those who ask finds out this often whether they still do not. */
const PROBE_MS = 1_000;

/** Answers that do not come belong together when there is less than this between them; some others may come meanwhile. */
const APART_MS = 15_000;

/** Whether any server can be reached, and since when there are no answers. Times are those of `performance.now`. */
export interface Reach {
  /** Since when none could be reached; undefined while one is there. */
  readonly awaySince: number | undefined;
  /** Since when nothing was answered that was asked, by a server that is there or by none. */
  readonly silentSince: number | undefined;
  /**
   * A server is there, and nothing that was to be written was acknowledged for longer than an election takes: it is parted from most of the
   * others, or they are away. It may still answer who reads (2.9.10 went on for half a minute), and what it says is old.
   */
  readonly isMute: boolean;
  /** When something was last amiss: a connection lost or made anew, an answer that did not come. */
  readonly troubledAt: number;
  /** Whether whoever asks now is the one who tries, while it is mute. */
  mayProbe(): boolean;
  /** Something was written, or what was to be written at that time was not acknowledged. */
  acknowledged(): void;
  unacknowledged(askedAt: number): void;
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
export function watchReach(
  nc: NatsConnection,
  place: string,
  { stuckMs = STUCK_MS }: { stuckMs?: number | undefined } = {},
): Reach {
  let isConnected = true;
  let awaySince: number | undefined;
  let silentSince: number | undefined;
  let brokenAt = -Infinity;
  /** From when to when answers have failed to come. */
  let lost: { from: number; to: number } | undefined;
  /** From when to when nothing was acknowledged that was to be written. */
  let mute: { from: number; to: number } | undefined;
  let probedAt = -Infinity;
  let troubledAt = -Infinity;
  void (async () => {
    for await (const { type } of nc.status()) {
      if (type === 'disconnect' || type === 'reconnect') troubledAt = performance.now();
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
    // After a process was held up (a machine that slept, or had no time for it) timers come before what was received meanwhile.
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
      if (isConnected) awaySince = undefined;
    },

    async unheard(askedAt, { isTimeout }) {
      troubledAt = performance.now();
      silentSince ??= askedAt;
      if (!isTimeout || awaySince !== undefined || nc.isClosed()) return;
      lost = extend(lost, askedAt);
      const isStuck = lost.to - lost.from >= stuckMs;
      if (!isStuck && (await answersPing())) return;
      if (performance.now() - brokenAt < BREAK_MS || nc.isClosed()) return;
      lost = undefined;
      awaySince ??= isStuck ? performance.now() : askedAt;
      isConnected = false;
      brokenAt = performance.now();
      await nc.reconnect();
    },

    error({ tried, cause } = {}) {
      const since = awaySince ?? mute?.from ?? performance.now();
      const when = new Date(performance.timeOrigin + since).toISOString().replace(/\.\d+/, '');
      const isThere = awaySince === undefined && mute !== undefined;
      const situation = isThere ? 'acknowledge nothing' : 'are not reachable';
      const done = { true: ' Whether it was done will show when one answers.', false: ' Nothing was changed.' };
      const advice = isThere
        ? 'see that most of them run and reach each other; troupe doctor looks at them.'
        : 'see that nats-server runs there and that this machine reaches it; troupe doctor looks at both.';
      return new JournalAwayError(`The NATS servers at ${place} ${situation} (since ${when})`, {
        advice: `${advice}${tried === undefined ? '' : done[`${tried}`]}`,
        cause,
      });
    },
  };
}

/** One more answer that did not come, to what was asked then. */
function extend(span: { from: number; to: number } | undefined, askedAt: number): { from: number; to: number } {
  return { from: span && askedAt - span.to < APART_MS ? span.from : askedAt, to: performance.now() };
}
