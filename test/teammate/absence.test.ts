import { expect, onTestFinished, test } from 'vitest';
import { watchAbsence } from '../../src/teammate/absence.ts';
import { until } from '../until.ts';

const LEASE_MS = 4_000;

/** Watches with a clock that a test can advance. Every check asks for the length of the lease. */
function watch() {
  const { now } = Date;
  let ahead = 0;
  let looks = 0;
  const over: number[] = [];
  Date.now = () => now() + ahead;
  const absence = watchAbsence({
    leaseMs() {
      looks++;
      return LEASE_MS;
    },
    onOver: (awayMs) => void over.push(awayMs),
  });
  onTestFinished(() => {
    absence.close();
    Date.now = now;
  });
  return {
    absence,
    over,
    pass: async (ms: number): Promise<void> => {
      ahead += ms;
      const before = looks;
      await until('it has looked', () => looks > before);
    },
  };
}

test('a process gives up its lost daemon before its card can have expired', async () => {
  const { absence, over, pass } = watch();
  absence.tell(false);
  absence.tell(true);
  absence.tell(false);
  await pass(LEASE_MS / 2 + 1);
  expect(over).toEqual([LEASE_MS / 2]);
});

test('a process may take longer than a lease to reach its daemon for the first time', async () => {
  const { absence, over, pass } = watch();
  absence.tell(false);
  await pass(3 * LEASE_MS);
  expect(over).toEqual([]);
  // Not forever: the daemon may have died just after it started the process.
  await pass(60_000);
  expect(over).toEqual([60_000]);
});
