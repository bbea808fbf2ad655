import type { Watch } from './watch.ts';

/** Agents try again several times by themselves before they give up; after that we wait longer. Milliseconds. */
const PAUSES = [10_000, 30_000, 90_000, 180_000];

/**
 * How long to wait before the next try; undefined when it is enough. Half of it is chance, so that members that were
 * turned away together do not come back together.
 */
export function retryAfter(attempt: number, chance: () => number = Math.random): number | undefined {
  const pause = PAUSES[attempt - 1];
  return pause === undefined ? undefined : Math.round(pause * (0.5 + chance()));
}

/** Resolves with true after so many milliseconds, with false as soon as it is interrupted. */
export async function pauseFor(ms: number, watch: Watch, isInterrupted: () => Promise<boolean>): Promise<boolean> {
  const over = AbortSignal.timeout(ms);
  const ended = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve(), { once: true }));
  while (!over.aborted) {
    if (await isInterrupted()) return false;
    await Promise.race([ended, watch.next()]);
  }
  return true;
}
