import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the event loop is sampled: the precision of the lag, and how often an idle daemon wakes up. */
const RESOLUTION_MS = 50;
const LOOK_EVERY_MS = 1_000;

/** Measures how late the event loop is. */
export interface LoopLag {
  /** The longest lag of the last full second. */
  milliseconds(): number;
  close(): void;
}

/** Calls `alarm` with the length of every lag above `limitMs`, once a second at most. */
export function watchLoopLag(limitMs: number, alarm: (ms: number) => void): LoopLag {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let longest = 0;
  const timer = setInterval(() => {
    // The monitor measures the time between two samples.
    longest = Math.max(0, delay.max / 1e6 - RESOLUTION_MS);
    delay.reset();
    if (longest > limitMs) alarm(longest);
  }, LOOK_EVERY_MS).unref();
  return {
    milliseconds: () => longest,
    close() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
