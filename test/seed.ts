import { onTestFailed } from 'vitest';
import { random } from './seed-numbers.ts';

export { random } from './seed-numbers.ts';

/**
 * Repeatable numbers from 0 to 1 for one test. A test that fails names the seed to set as TROUPE_SEED. The scheduling
 * of processes stays random, so a seed repeats what the test did, not what the machine did.
 */
export function seededRandom(): () => number {
  const seed = Number(process.env['TROUPE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  onTestFailed(() => console.error(`To repeat this: TROUPE_SEED=${seed}`));
  return random(seed);
}
