import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryJournal } from '../../../src/journal/memory.ts';
import { answerRequest } from '../../../src/ledger/answer-request.ts';
import { createInstruments } from '../../../src/runtime/instruments.ts';
import { measureLandings } from '../../../src/runtime/landing/measure.ts';
import { countTotals } from '../../../src/runtime/totals.ts';
import { TEAM } from '../../ledger/commands.ts';
import { verdict } from '../../ledger/task-lists.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { openQueueStage } from './stage.ts';
import type { QueueStage } from './stage.ts';

/** Measures the queue of a stage as its daemon does; returns the value of a metric. */
function measure({ ledger }: QueueStage, journal: ReturnType<typeof memoryJournal>, hostId: string) {
  const totals = countTotals({
    journal,
    path: join(temporaryFolder(), 'totals.json'),
    onError: (error) => expect.unreachable(String(error)),
  });
  totals.follow(ledger);
  const instruments = createInstruments({
    version: '0',
    journal: { kind: 'memory', durability: 'none' },
    tally: () => totals.now(),
    server: { connections: 0, rejected: 0, cut: 0 },
    loopLagMs: () => 0,
    isDegraded: () => false,
  });
  measureLandings(ledger, hostId, instruments);
  const valueOf = (name: string): number => {
    const line = instruments
      .expose()
      .split('\n')
      .find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? 0);
  };
  return {
    valueOf,
    landings: () => {
      const outcomes = ['landed', 'asked', 'red', 'split', 'dropped', 'conflicted'];
      const all = outcomes.map((one) => [one, valueOf(`troupe_landings_total{outcome="${one}"}`)] as const);
      return Object.fromEntries(all.filter(([, count]) => count > 0));
    },
  };
}

test('counts what waits, how each landing ended, and how long works took', async () => {
  const journal = memoryJournal();
  const members = ['eve', 'ann', 'bob', 'cyd', 'dan'];
  const stage = await openQueueStage({
    members,
    journal,
    work: { approve: { paths: ['db/**'] } },
    queueStarts: false,
    // Nothing is judged alone; ann and bob are red only together.
    gates: 0,
    gate: async ({ files }) => {
      // The first one lands on its own. Meanwhile the others are found fit to land together.
      if (!('a' in files) && !('b' in files)) await until('the others may follow together', isNextKnown);
      return verdict('a' in files && 'b' in files ? 2 : 0);
    },
  });
  const isNextKnown = async (): Promise<boolean> => {
    const { work } = (await stage.show('bob')) ?? {};
    const name = { taskId: stage.taskOf('bob'), epoch: work?.epoch ?? 0, commit: work?.commit ?? '' };
    return stage.queues.aloneOf(TEAM, name) === 'assumed';
  };
  const here = measure(stage, journal, 'here');
  const elsewhere = measure(stage, journal, 'elsewhere');
  stage.write('eve', { e: '1' });
  stage.write('ann', { a: '1' });
  stage.write('bob', { b: '1' });
  stage.write('cyd', { a: '2' });
  stage.write('dan', { 'db/1.sql': '1' });
  const ends = members.map((name) =>
    stage.complete(name).then(
      () => 'landed',
      (error: unknown) => (error as Error).message,
    ),
  );
  await until('all wait', () => here.valueOf('troupe_merge_queue') === 5);
  await stage.queues.start();
  expect(await Promise.all(ends.slice(0, 4))).toEqual([
    'landed',
    'landed',
    expect.stringContaining('The gate rejected'),
    'bring together a',
  ]);
  await until('a person is asked', async () => (await stage.show('dan'))?.work?.state === 'asked');
  expect(here.valueOf('troupe_merge_queue')).toBe(0);
  expect(here.landings()).toEqual({ landed: 2, asked: 1, red: 1, split: 1, conflicted: 1 });
  expect(here.valueOf('troupe_landing_seconds_count')).toBe(2);
  const [request] = await stage.ledger.view(TEAM, ({ requests }) => [...requests.values()]);
  const input = { requestId: request?.id ?? '', approve: true };
  await answerRequest(stage.ledger, undefined, { teamId: TEAM, input, once: {} });
  expect(await ends[4]).toBe('landed');
  expect(here.landings()).toEqual({ landed: 3, asked: 1, red: 1, split: 1, conflicted: 1 });
  expect(here.valueOf('troupe_landing_seconds_count')).toBe(3);
  expect(here.valueOf('troupe_landing_seconds_bucket{le="+Inf"}')).toBe(3);
  // Another machine counts its own.
  expect(elsewhere.landings()).toEqual({});
});
