import { expect, onTestFinished, test } from 'vitest';
import type { HostCard, Hosts } from '../../../src/journal/hosts.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import { keepHosts } from '../../../src/runtime/hosts/keeper.ts';
import { fencedJournal, readClocks, since } from '../../../src/runtime/hosts/lease.ts';
import { note } from '../../contracts/journal/notes.ts';
import { openLedger } from '../../ledger/places.ts';

/** The daemons of one process: cards in a list. */
function localHosts(cards: HostCard[], told: string[]): Hosts {
  return {
    leaseMs: 30_000,
    announce: async (card) => void told.push(`announce ${card.name}`),
    list: async () => {
      told.push('list');
      return cards;
    },
    leave: async (name) => void told.push(`leave ${name}`),
    ask: async () => undefined,
    answer: () => () => {},
    onCard: () => () => {},
    onTeam: () => () => {},
  };
}

test('a pause is seen by the clock that went on during it', () => {
  const then = readClocks();
  expect(since(then)).toBeLessThan(1_000);
  expect(since({ ...then, wall: then.wall - 60_000 })).toBeGreaterThanOrEqual(60_000);
  expect(since({ ...then, steady: then.steady - 60_000 })).toBeGreaterThanOrEqual(60_000);
});

test('after a pause longer than its lease a daemon looks before it writes, and only then', async () => {
  const told: string[] = [];
  const journal = memoryJournal();
  const keeper = await keepHosts({
    hosts: localHosts([], told),
    ledger: openLedger(journal),
    self: { name: 'alpha', labels: [], agents: [], home: 'h', version: '1' },
    load: () => 0,
    reconsider: async (teamId) => void told.push(`reconsider ${teamId}`),
    declareLost: async () => {},
    onError: (error) => {
      throw error;
    },
  });
  const fenced = fencedJournal(
    {
      ...journal,
      append: (...args) => {
        told.push('append');
        return journal.append(...args);
      },
    },
    () => keeper.lease,
  );
  await fenced.append('a', 0, [note('1')]);
  await keeper.start();
  told.length = 0;
  await fenced.append('a', 1, [note('2')]);
  expect(told).toEqual(['append']);
  // The machine slept: its clock is an hour further.
  const { now } = Date;
  onTestFinished(() => void (Date.now = now));
  Date.now = () => now() + 3_600_000;
  told.length = 0;
  await Promise.all([fenced.append('a', 2, [note('3')]), fenced.append('b', 0, [note('1')])]);
  expect(told).toEqual(['announce alpha', 'list', 'reconsider a', 'append', 'append']);
  await keeper.close();
  expect(told.at(-1)).toBe('leave alpha');
});
