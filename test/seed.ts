import { onTestFailed } from 'vitest';

/**
 * Repeatable numbers from 0 to 1 for one test. A test that fails names the seed to set as TROUPE_SEED. The scheduling
 * of processes stays random, so a seed repeats what the test did, not what the machine did.
 */
export function seededRandom(): () => number {
  const seed = Number(process.env['TROUPE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  onTestFailed(() => console.error(`To repeat this: TROUPE_SEED=${seed}`));
  return random(seed);
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
