import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { REMEMBERED_COMMANDS } from '../../src/core/limits.ts';
import { rounds, tell } from '../proof.ts';
import type { DayOptions, DayResult } from './day.ts';

const ROOT = dirname(dirname(import.meta.dirname));
const HOURS = rounds(1, 24);
const HOUR_MS = 3_600_000;

/** What a team did stays with it: these grow with its tasks, messages and requests, and with nothing else. */
const BY_RIGHT = new Set([
  'tasks',
  'messages',
  'broadcasts',
  'requests',
  'taskUsage',
  'dependents',
  'receipts',
  // An entry for each time that a task became ready. After a restart they are there until the next claim drops them.
  'free',
]);

/**
 * The most of everything else that a daemon holds of a team of five, and of what it has planned. Each hour brings 4 tasks, 10
 * messages and up to 60 faults, so what stays of each of them exceeds this within a day.
 */
const MOST = 24;

/** Two accounts that are closed for 6 hours are tried after 10 s, 30 s, 90 s, 3 min, 10 min, then every 30 min. */
const MOST_REFUSED = 60;

/** What an old daemon may hold more than a new one: compiled code, numbers that V8 learned. A kilobyte for each batch of a day is more. */
const MOST_OLDER = 2 * 1024 * 1024;

/** Runs a day in a process of its own: it replaces clocks and timers. */
async function simulateDay(options: DayOptions): Promise<DayResult> {
  const command = ['--import', join(ROOT, 'test/simulator/platform.ts'), join(ROOT, 'test/simulator/run-day.ts')];
  const { stdout } = await promisify(execFile)(process.execPath, [...command, JSON.stringify(options)], {
    maxBuffer: 2 ** 28,
  });
  return JSON.parse(stdout) as DayResult;
}

/** Other seeds in each proof, the same in npm test. */
const SEED = Number(process.env['TROUPE_SEED'] ?? 1);

/** In npm test the shortest: the faults have tests of their own. */
const DAYS = [
  { what: 'without faults', machines: 1, isFaulty: false },
  { what: 'with faults', machines: 1, isFaulty: true },
  { what: 'with faults, on two machines', machines: 2, isFaulty: true },
].slice(0, rounds(1, 3));

test.each(DAYS)(`${HOURS} simulated hours $what: nothing grows but what a team did`, async ({ machines, isFaulty }) => {
  const { hours, simulatedMs, heap, plans, violation } = await simulateDay({
    seed: SEED,
    hours: HOURS,
    machines,
    isFaulty,
  });
  expect(violation).toBe(undefined);
  expect(hours).toHaveLength(HOURS);
  expect(simulatedMs).toBeGreaterThanOrEqual(HOURS * HOUR_MS);
  // A team that rests writes nothing.
  expect(hours.filter(({ idleBatches }) => idleBatches > 0)).toEqual([]);
  for (const { hour, state, daemonPlans, memberPlans, processes, refused } of hours) {
    const others = Object.entries(state).filter(([name]) => !BY_RIGHT.has(name));
    const held = { ...Object.fromEntries(others), daemonPlans: daemonPlans / machines, memberPlans, processes };
    expect(
      Object.entries(held).filter(([, size]) => size > MOST),
      `in hour ${hour}`,
    ).toEqual([]);
    expect(state['receipts']).toBeLessThanOrEqual(REMEMBERED_COMMANDS);
    expect(refused).toBeLessThanOrEqual(MOST_REFUSED);
  }
  expect(plans.old - plans.fresh).toBeLessThanOrEqual(MOST / 2);
  expect(heap.old - heap.fresh).toBeLessThanOrEqual(MOST_OLDER);
  tell({
    simulatedHours: Math.floor(simulatedMs / HOUR_MS),
    days: [simulatedMs / HOUR_MS],
    olderKb: [Math.round((heap.old - heap.fresh) / 1024)],
    batches: hours.reduce((sum, { batches }) => sum + batches, 0),
  });
});
