import { setImmediate as nextTurn } from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import type { StartOptions } from './start.ts';

/**
 * A stage whose clock stands still until the test moves it. Minutes of waiting cost nothing, and a slow machine changes
 * nothing.
 */
export interface HeldStage extends Stage {
  /** Lets time pass, a second at a time. In between, all pending reads and writes are done. */
  pass(ms: number): Promise<void>;
}

const STEP_MS = 1_000;

/**
 * Stops the timers and the clock of this process, and so of the server in it. Wait with `expect.poll`, which has its
 * own clock.
 */
export async function setHeldStage(options: StartOptions = {}): Promise<HeldStage> {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  const stage = await setStage(options);
  // Before the server stops, which takes real time.
  onTestFinished(() => void vi.useRealTimers());
  return {
    ...stage,
    async pass(ms) {
      for (let left = ms; left > 0; left -= STEP_MS) {
        vi.advanceTimersByTime(Math.min(left, STEP_MS));
        for (let turn = 0; turn < 3; turn++) await nextTurn();
      }
    },
  };
}
