import type { Watch } from './watch.ts';

/** Agents retry several times themselves before they give up; these pauses come after that. Milliseconds. */
const PAUSES = [10_000, 30_000, 90_000, 180_000];

/**
 * The back-off before the next attempt; undefined to give up. Half of it is random, so that members that failed
 * together do not retry together.
 */
export function retryAfter(attempt: number, chance: () => number = Math.random): number | undefined {
  const pause = PAUSES[attempt - 1];
  return pause === undefined ? undefined : Math.round(pause * (0.5 + chance()));
}

/** Resolves with true after this many milliseconds, with false as soon as it is interrupted. */
export async function pauseFor(ms: number, watch: Watch, isInterrupted: () => Promise<boolean>): Promise<boolean> {
  const over = AbortSignal.timeout(ms);
  const ended = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve(), { once: true }));
  while (!over.aborted) {
    if (await isInterrupted()) return false;
    await Promise.race([ended, watch.next()]);
  }
  return true;
}
