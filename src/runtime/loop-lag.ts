/** How often the event loop is sampled: the precision of the lag, and how often an idle daemon wakes up. */
const SAMPLE_MS = 50;
const LOOK_EVERY_MS = 1_000;

/** Measures how late the event loop is. */
export interface LoopLag {
  /** The longest lag of the last full second. */
  milliseconds(): number;
  close(): void;
}

/**
 * Calls `alarm` with the length of the longest lag above `limitMs`, once a second at most. Node's own monitor forgets its
 * last sample when it is reset, and so misses a lag that begins right then: one in twenty.
 */
export function watchLoopLag(limitMs: number, alarm: (ms: number) => void): LoopLag {
  let sampledAt = performance.now();
  let lookedAt = sampledAt;
  let longest = 0;
  let reported = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - sampledAt - SAMPLE_MS);
    sampledAt = now;
    if (now - lookedAt < LOOK_EVERY_MS) return;
    lookedAt = now;
    reported = longest;
    longest = 0;
    if (reported > limitMs) alarm(reported);
  }, SAMPLE_MS).unref();
  return {
    milliseconds: () => reported,
    close: () => clearInterval(timer),
  };
}
