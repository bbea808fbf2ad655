/**
 * How long a test waits for something before it reports a hang. No test depends on this number: a condition that holds
 * ends the wait at once, and a slow machine may take its time. It is shorter than a test's own timeout, so that the
 * report says what the test waited for. Mutations hang tests by the hundred, so `proof/mutations/` waits less long.
 */
export const HANG_MS = Number(process.env['TROUPE_TEST_HANG_MS'] ?? 120_000);

/**
 * Waits until the condition returns something other than `undefined` or `false`, and returns that. The longer it has waited, the less often
 * it looks: many conditions ask a daemon or read all processes, and three files wait at a time.
 */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    const waited = performance.now() - began;
    if (waited > HANG_MS) throw new Error(`Waited ${HANG_MS / 1_000} s in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(waited)));
  }
}

/**
 * How long to wait before the next look, so that a wait takes at most a tenth longer. Two files that wait for machines took 35 s of
 * processor time with looks at most 100 ms apart, and 30 s with 250 ms, in the same time.
 */
export function pauseAfter(waitedMs: number): number {
  return Math.min(10 + waitedMs / 10, 250);
}
