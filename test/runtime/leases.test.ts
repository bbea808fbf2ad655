import { expect, onTestFinished, test } from 'vitest';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { keepLeases } from '../../src/runtime/lease-keeper.ts';
import type { Leases } from '../../src/runtime/lease-keeper.ts';
import { createTask, createTeam, run, TEAM } from '../ledger/commands.ts';
import { openLedger } from '../ledger/places.ts';
import { until } from '../until.ts';

/** Longer than any test. */
const LONG = 3_600_000;

test('a task is released by one of two daemons when its lease is over, and the holder gets one message', async () => {
  const one = await setStage();
  const two = await setStage({ journal: one.journal });
  await two.leases.start();
  await createTask(one.ledger, 'Held');
  await claim(one.ledger, 30);
  await until('it is released', () => isFree(one.ledger));
  // Both have looked at it when both have released the next one.
  await claim(one.ledger, 30);
  await until('it is released again', () => isFree(one.ledger));
  await until('the other one knows it', () => isFree(two.ledger));
  const { epoch, sent } = await one.ledger.view(TEAM, ({ tasks, messages }) => ({
    epoch: tasks.get('1')?.epoch,
    sent: [...messages.values()].map(({ toId, content }) => `${toId}: ${content.slice(0, 24)}`),
  }));
  expect(epoch).toBe(4);
  expect(sent).toEqual(['ann: Your claim of task #1 ("', 'ann: Your claim of task #1 ("']);
  expect([...one.failures, ...two.failures]).toEqual([]);
});

test('a lease that an earlier daemon recorded is ended by the next one', async () => {
  const before = await setStage({ keep: false });
  await createTask(before.ledger, 'Held');
  await claim(before.ledger, 1);
  const after = await setStage({ journal: before.journal });
  await after.leases.start();
  await until('it is released', () => isFree(after.ledger));
});

test('calls of the holder renew its lease, at most once in a quarter of it; calls of others do not', async () => {
  let now = Date.now() - LONG;
  const { ledger, leases } = await setStage({ now: () => now });
  await createTask(ledger, 'Held');
  // Claimed long ago, by the clock of the ledger; by the other clock it ends in a moment.
  await claim(ledger, LONG + 60_000);
  now += LONG;
  leases.heard(TEAM, 'bob');
  leases.heard('other', 'ann');
  leases.heard(TEAM, 'ann');
  leases.heard(TEAM, 'ann');
  const renewed = (): Promise<Date | undefined> => ledger.view(TEAM, ({ tasks }) => tasks.get('1')?.leaseUntil);
  await until('it is renewed', async () => (await renewed())?.getTime() === now + LONG + 60_000);
  const seq = await ledger.view(TEAM, (_state, seq) => seq);
  leases.heard(TEAM, 'ann');
  await run(ledger, { type: 'task.update', by: 'ann', taskId: '1', title: 'After that' });
  expect(await ledger.view(TEAM, (_state, now) => now)).toBe(seq + 1);
});

async function setStage({ journal = memoryJournal(), keep = true, now = Date.now } = {}) {
  const ledger = openLedger(journal, { now });
  const failures: unknown[] = [];
  const leases: Leases = keepLeases(ledger, (error) => failures.push(error));
  onTestFinished(() => leases.close());
  if (!keep) leases.close();
  const exists = await ledger.view(TEAM, ({ team }) => team !== undefined);
  if (!exists) await createTeam(ledger);
  return { ledger, journal, leases, failures };
}

function claim(ledger: Ledger, lease: number): Promise<unknown> {
  return run(ledger, { type: 'task.claim', by: 'ann', taskId: '1', lease });
}

function isFree(ledger: Ledger): Promise<boolean> {
  return ledger.view(TEAM, ({ tasks }) => tasks.get('1')?.status === 'pending');
}
