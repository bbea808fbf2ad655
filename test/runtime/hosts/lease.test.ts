import { expect, onTestFinished, test } from 'vitest';
import { SYSTEM, USER } from '../../../src/core/actor.ts';
import type { HostCard, Hosts } from '../../../src/journal/hosts.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import type { NewCommand } from '../../../src/ledger/ledger.ts';
import { SharedTaskList } from '../../../src/ledger/task-list.ts';
import { keepHosts } from '../../../src/runtime/hosts/keeper.ts';
import type { KeeperOptions } from '../../../src/runtime/hosts/keeper.ts';
import { fencedJournal, readClocks, since } from '../../../src/runtime/hosts/lease.ts';
import type { Lease } from '../../../src/runtime/hosts/lease.ts';
import { note } from '../../contracts/journal/notes.ts';
import { createTeam, join } from '../../ledger/commands.ts';
import { openLedger } from '../../ledger/places.ts';
import { until } from '../../until.ts';

/** The hosts of this process: a list of cards. */
function localHosts(cards: HostCard[], told: string[], more: Partial<Hosts> = {}): Hosts {
  return {
    leaseMs: 30_000,
    readLease: async () => 30_000,
    announce: async (card) => void told.push(`announce ${card.name}`),
    list: async () => {
      told.push('list');
      return cards;
    },
    leave: async (name) => void told.push(`leave ${name}`),
    isConnected: async () => false,
    checkHearing: async () => true,
    ask: async () => undefined,
    answer: () => () => {},
    onCard: () => () => {},
    onTeam: () => () => {},
    ...more,
  };
}

/** Opens the keeper of the daemon alpha on these hosts. */
function openKeeper(hosts: Hosts, more: Partial<KeeperOptions> = {}) {
  return keepHosts({
    hosts,
    ledger: openLedger(memoryJournal()),
    self: { name: 'alpha', labels: [], agents: [], home: 'h', version: '1' },
    load: () => 0,
    reconsider: async () => {},
    declareLost: async () => {},
    onLease() {},
    onOusted: () => {},
    onError: (error) => {
      throw error;
    },
    ...more,
  });
}

test('a pause is detected by the clock that went on during it', () => {
  // Removes the fake; the real one is on the prototype.
  onTestFinished(() => void Reflect.deleteProperty(performance, 'now'));
  performance.now = () => 1_000_000;
  stopAt(Date.now());
  const then = readClocks();
  expect(since(then)).toBe(0);
  expect(since({ ...then, wall: then.wall - 60_000 })).toBe(60_000);
  expect(since({ ...then, steady: then.steady - 60_000 })).toBe(60_000);
});

test('after a pause longer than its lease a daemon knows no hosts until it has read the list', async () => {
  const beta: HostCard = { name: 'beta', labels: [], agents: [], load: 0, home: 'other', version: '1' };
  const keeper = await openKeeper(localHosts([beta], []));
  const names = (): string[] => keeper.list().map(({ name }) => name);
  expect(names()).toEqual(['alpha', 'beta']);
  sleepFor(3_600_000);
  expect(names()).toEqual([]);
  await keeper.lease.valid();
  expect(names()).toEqual(['alpha', 'beta']);
  await keeper.close();
});

test('a daemon that starts while another reads the list is known to it', async () => {
  const beta: HostCard = { name: 'beta', labels: [], agents: [], load: 0, home: 'other', version: '1' };
  let hear = (_card: HostCard): void => {};
  const listening = {
    onCard: (listener: typeof hear) => {
      hear = listener;
      return () => {};
    },
    // The list was read before the host came, and returned after that.
    list: async () => {
      hear(beta);
      return [];
    },
  };
  const keeper = await openKeeper(localHosts([], [], listening));
  const names = (): string[] => keeper.list().map(({ name }) => name);
  expect(names()).toContain('beta');
  sleepFor(3_600_000);
  await keeper.lease.valid();
  expect(names()).toEqual(['alpha', 'beta']);
  await keeper.close();
});

test('after a pause longer than its lease a daemon reads the list before it writes, and only then', async () => {
  const told: string[] = [];
  const journal = memoryJournal();
  const keeper = await openKeeper(localHosts([], told), {
    ledger: openLedger(journal),
    reconsider: async (teamId) => void told.push(`reconsider ${teamId}`),
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
  sleepFor(3_600_000);
  told.length = 0;
  await Promise.all([fenced.append('a', 2, [note('3')]), fenced.append('b', 0, [note('1')])]);
  // The members are reconsidered in their teams, each after the commands that wait there. The append may be one of
  // these.
  expect(told.filter((one) => !one.startsWith('reconsider'))).toEqual(['list', 'announce alpha', 'append', 'append']);
  expect(told).toContain('reconsider a');
  await keeper.close();
  expect(told.at(-1)).toBe('leave alpha');
});

test('after a pause a team does not deadlock, although its first write and its reconsidering wait for each other', async () => {
  const journal = memoryJournal();
  const held: { lease?: Lease } = {};
  const ledger = openLedger(fencedJournal(journal, () => held.lease));
  const looked: string[] = [];
  const keeper = await openKeeper(localHosts([], []), {
    ledger,
    reconsider: (teamId) => ledger.view(teamId, () => void looked.push(teamId)),
  });
  held.lease = keeper.lease;
  await createTeam(ledger);
  await keeper.start();
  looked.length = 0;
  sleepFor(3_600_000);
  await new SharedTaskList(ledger).createTask('crew', USER, { title: 'after the pause' });
  await expect.poll(() => looked).toEqual(['crew']);
  await keeper.close();
});

test('a daemon that slept while another took its name does not write', async () => {
  const cards: HostCard[] = [];
  const told: string[] = [];
  const journal = memoryJournal();
  const keeper = await openKeeper(localHosts(cards, told), { ledger: openLedger(journal), onError: () => {} });
  sleepFor(3_600_000);
  cards.push({ name: 'alpha', labels: [], agents: [], home: 'another', version: '1', load: 0 });
  told.length = 0;
  const late = fencedJournal(journal, () => keeper.lease).append('a', 0, [note('1')]);
  await expect(late).rejects.toThrow('Another daemon on this journal took the name alpha');
  expect(told).not.toContain('announce alpha');
  await keeper.close();
});

test('a daemon whose grace ends while the others are looked after is declared lost at a look of its own', async () => {
  // Both clocks stand still, unless this test moves them.
  onTestFinished(() => void Reflect.deleteProperty(performance, 'now'));
  performance.now = () => 1_000_000;
  stopAt(Date.now());
  const leaseMs = 6_000;
  const told: string[] = [];
  const ledger = openLedger(memoryJournal());
  await createTeam(ledger);
  const placed: NewCommand = { type: 'member.place', by: SYSTEM, memberId: 'ada', hostId: 'beta' };
  await ledger.execute('crew', [join('ada', { agent: { kind: 'exec', command: ['true'] } }), placed], () => {});
  let looks = 0;
  const keeper = await openKeeper(
    localHosts([], [], { leaseMs, readLease: async () => leaseMs, list: async () => (looks++, []) }),
    {
      ledger,
      // Twice the list is read at the start. After the third time beta is missing; a daemon that has just begun gives it half a lease.
      async reconsider() {
        if (looks !== 3) return;
        sleepFor(leaseMs / 2 + 1);
        // The next ordinary look is after a third of a lease.
        setTimeout(() => told.push('late'), leaseMs / 4);
      },
      declareLost: async (_teamId, hostId) => void told.push(`${hostId} is lost`),
    },
  );
  await keeper.start();
  await until('beta is declared lost', () => told.includes('beta is lost'));
  expect(told).toEqual(['beta is lost']);
  await keeper.close();
});

/** Stops the wall clock. */
function stopAt(ms: number): void {
  const { now } = Date;
  onTestFinished(() => void (Date.now = now));
  Date.now = () => ms;
}

/** Advances the wall clock, as if the machine had slept. */
function sleepFor(ms: number): void {
  const { now } = Date;
  onTestFinished(() => void (Date.now = now));
  Date.now = () => now() + ms;
}
