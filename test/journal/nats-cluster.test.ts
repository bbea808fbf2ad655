import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { describeJournal } from '../contracts/journal.ts';
import { note, textOf } from '../contracts/journal/notes.ts';
import { scenario } from '../ledger/model/runs.ts';
import { runScenario } from '../ledger/model/scenario.ts';
import { TEAM } from '../ledger/model/world.ts';
import { openAdmin } from '../nats/admin.ts';
import type { Admin } from '../nats/admin.ts';
import { NEEDS_NATS, PATIENT, startNats } from '../nats/server.ts';
import type { NatsNode, NatsServers } from '../nats/server.ts';
import { isProof, rounds, tell } from '../proof.ts';

const MODEL_RUNS = rounds(3, 500);
const ROUNDS = rounds(40, 1_000);
const STREAM = 'troupe_rivals';

type Mishap = 'stepdown' | 'kill' | 'return';

/** What happens to the leader of the stream, and in which round. */
const MISHAPS = new Map<number, Mishap>(
  (
    [
      [0.1, 'stepdown'],
      [0.25, 'kill'],
      [0.4, 'return'],
      [0.45, 'stepdown'],
      ...(isProof ? ([0.6, 0.75] as const).map((part, i) => [part, i === 0 ? 'kill' : 'return'] as const) : []),
      [0.9, 'stepdown'],
    ] as const
  ).map(([part, mishap]) => [Math.floor(part * ROUNDS), mishap]),
);

// All tests with three servers are here, because a cluster takes seconds to form.
describe('on three servers', NEEDS_NATS, () => {
  let servers: NatsServers;
  let sweeper: Journal;
  beforeAll(async () => {
    servers = await startNats({ size: 3 });
    await setUpNatsJournal(servers.url, { replicas: 3 });
    sweeper = await natsJournal(servers.url, PATIENT);
  });
  afterAll(async () => {
    await sweeper?.close();
    await servers?.stop();
  });

  test('changing one setting of a journal keeps the others', async () => {
    const url = `${servers.url}?prefix=kept`;
    await setUpNatsJournal(url, { replicas: 3, maxBytes: 1_000_000 });
    const journal = await natsJournal(url, PATIENT);
    await journal.append('a', 0, [note('1')]);
    const before = { replicas: 3, maxBytes: 1_000_000, leaseMs: 30_000 };
    const shorter = { ...before, leaseMs: 15_000 };
    expect(await setUpNatsJournal(url, { leaseMs: 15_000 })).toEqual({
      ...shorter,
      before,
      created: false,
      changed: 0,
    });
    expect(await journal.hosts.readLease()).toBe(15_000);
    const fewer = await setUpNatsJournal(url, { replicas: 1 });
    expect(fewer).toEqual({ ...shorter, replicas: 1, before: shorter, created: false, changed: 1 });
    await journal.drop('a');
    await journal.close();
  });

  // One journal for all tests: the servers take half a second to make one, and a quarter of a second for a team.
  const makeStore = async () => {
    await Promise.all((await sweeper.teams()).map((team) => sweeper.drop(team)));
    return () => natsJournal(servers.url, PATIENT);
  };
  describeJournal('nats, three replicas', makeStore, { most: rounds(6, 50) });

  test(`the ledger matches a simple model in ${MODEL_RUNS} runs`, async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (drawn) => {
        await sweeper.drop(TEAM);
        await runScenario(sweeper, drawn);
      }),
      { numRuns: MODEL_RUNS },
    );
  });

  // This must be the last test: it kills servers.
  test(`exactly one of two rivals wins in each of ${ROUNDS} rounds, although leaders step down and die`, async () => {
    const admin = await openAdmin(servers);
    onTestFinished(() => admin.close());
    const rivals = [await natsJournal(servers.url, PATIENT), await natsJournal(servers.url, PATIENT)] as const;
    onTestFinished(async () => void (await Promise.all(rivals.map((rival) => rival.close()))));
    const winners: string[] = [];
    const dead: NatsNode[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // The rivals take turns to ask first, because the first usually wins.
      const names = round % 2 === 0 ? [0, 1] : [1, 0];
      const contest = Promise.allSettled(names.map((i) => rivals[i]!.append('rivals', round, [note(`${round}/${i}`)])));
      const mishap = MISHAPS.get(round);
      if (mishap) await unsettle(admin, dead, mishap);
      const outcomes = await contest;
      const won = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [`${round}/${names[i]}`] : []));
      for (const outcome of outcomes) if (outcome.status === 'rejected') expectConflict(outcome.reason);
      expect(won, `round ${round}`).toHaveLength(1);
      winners.push(...won);
      // A rival that has never read the team looks for it first, and would lose most rounds.
      if (round === 0) for (const rival of rivals) await Array.fromAsync(rival.read('rivals', 0));
    }
    const kept: string[] = [];
    for await (const { seq, events } of rivals[0].read('rivals', 0)) {
      expect(seq).toBe(kept.length + 1);
      kept.push(...events.map(textOf));
    }
    expect(kept).toEqual(winners);
    // Each rival won at least once.
    expect(new Set(winners.map((winner) => winner.split('/')[1])).size).toBe(2);
    tell({ contests: ROUNDS, leaderChanges: MISHAPS.size });
  });
});

async function unsettle(admin: Admin, dead: NatsNode[], mishap: Mishap): Promise<void> {
  if (mishap === 'return') {
    await dead.pop()?.start();
    // Wait for it before the next server dies: of three servers, only one may be away at a time.
    return admin.untilCurrent(STREAM);
  }
  const leader = await admin.leaderOf(STREAM);
  if (mishap === 'stepdown') return admin.stepDown(STREAM);
  await leader.kill();
  dead.push(leader);
}

function expectConflict(reason: unknown): void {
  if (reason instanceof TeamError && reason.code === 'journal_conflict') return;
  throw reason;
}
