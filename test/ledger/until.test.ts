import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import type { TeamState } from '../../src/core/state.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { until } from '../../src/ledger/until.ts';
import { createTask, createTeam, TEAM } from './commands.ts';
import { openLedger } from './places.ts';
import { settleTurns, watchedJournal } from './watched-journal.ts';

async function openTeam() {
  const journal = watchedJournal(memoryJournal());
  const ledger = openLedger(journal);
  await createTeam(ledger);
  const stop = new AbortController();
  const find = <V>(look: (state: TeamState) => V | undefined, wait?: number): Promise<V | undefined> =>
    until(ledger, TEAM, look, { wait, signal: stop.signal });
  return { journal, ledger, stop, find };
}

const title = (state: TeamState): string | undefined => state.tasks.get('1')?.title;

test('what is there is found at once, and what comes later when it comes', async () => {
  const { ledger, find } = await openTeam();
  const found = find(title);
  await settleTurns();
  await createTask(ledger, 'one');
  expect(await found).toBe('one');
  expect(await find(title)).toBe('one');
});

test('what is in another team is not found', async () => {
  const { ledger, find } = await openTeam();
  const found = find(({ teamId, tasks }) => (teamId !== TEAM || tasks.size > 0 ? teamId : undefined));
  await createTeam(ledger, { name: 'other' });
  await createTask(ledger, 'one');
  expect(await found).toBe(TEAM);
});

test('after the time that was given nothing is found, and what is found needs no time', async () => {
  const { find } = await openTeam();
  expect(await find(title, 1)).toBeUndefined();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    expect(await find(() => 'found', 60_000)).toBe('found');
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('a look that throws, a team that cannot be read, and a stop end it', async () => {
  const { journal, ledger, stop, find } = await openTeam();
  const fail = (): never => {
    throw new Error('no use');
  };
  await expect(find(fail)).rejects.toThrow('no use');
  const read = journal.read.bind(journal);
  journal.read = () => {
    throw new Error('gone');
  };
  await expect(find(title)).rejects.toThrow('gone');
  journal.read = read;
  const waiting = find(title);
  await settleTurns();
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  await expect(find(title)).rejects.toThrow('stopped');
  await createTask(ledger, 'one');
});

test('nobody looks any more after the end', async () => {
  const { ledger, stop, find } = await openTeam();
  let looks = 0;
  expect(await find(() => ++looks)).toBe(1);
  await createTask(ledger, 'one');
  await settleTurns();
  expect(looks).toBe(1);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});
