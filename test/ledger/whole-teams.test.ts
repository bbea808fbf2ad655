import { describe, expect, test, vi } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import type { Journal, Stored } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { TeamWriter } from '../../src/ledger/team-writer.ts';
import { Turns } from '../../src/ledger/turns.ts';
import { createTask, createTeam, run, task, TEAM } from './commands.ts';
import { openLedger } from './places.ts';
import { door, settleTurns, watchedJournal } from './watched-journal.ts';

const name = ({ team }: { team?: { name: string } | undefined }): string => team?.name ?? 'none';

describe('while the journal cannot be reached', () => {
  test('teams in memory are shown as they were last known, and no others', async () => {
    const journal = watchedJournal(memoryJournal());
    await createTeam(openLedger(journal), { name: 'cold' });
    const ledger = openLedger(journal);
    await createTeam(ledger);
    await ledger.view('nobody', name);
    // A team that is just being opened is not in memory yet.
    const opening = door();
    journal.loadSnapshot = async () => {
      await opening.pass();
      return undefined;
    };
    const cold = ledger.view('cold', name);
    journal.teams = () => Promise.reject(new TeamError('storage', 'away'));
    const shown = await ledger.fromMemory(async () => ({
      teams: await ledger.teams(),
      crew: await ledger.view(TEAM, name),
      all: await ledger.viewAll(name, { unreadable: () => 'unreadable' }),
    }));
    expect(shown).toEqual({ teams: [TEAM], crew: TEAM, all: [TEAM] });
    await expect(ledger.fromMemory(() => ledger.view('cold', name))).rejects.toMatchObject({ code: 'storage' });
    const twice = ledger.fromMemory(async () => {
      await ledger.fromMemory(async () => undefined);
      return ledger.teams();
    });
    expect(await twice).toEqual([TEAM]);
    await expect(ledger.teams()).rejects.toMatchObject({ message: 'away' });
    opening.open();
    expect(await cold).toBe('cold');
  });
});

describe('a look at all teams', () => {
  test.each([
    ['corrupt', true],
    ['unsupported', true],
    ['storage', false],
  ] as const)('shows the others if one of them is %s: %s', async (code, isShown) => {
    const journal = memoryJournal();
    const writing = openLedger(journal);
    for (const one of ['a', 'b', 'c']) await createTeam(writing, { name: one });
    const ledger = openLedger({
      ...journal,
      read(team, after) {
        if (team === 'b') throw new TeamError(code, 'no');
        return journal.read(team, after);
      },
    });
    const all = ledger.viewAll(name, { unreadable: (teamId) => `not ${teamId}` });
    if (isShown) expect(await all).toEqual(['a', 'not b', 'c']);
    else await expect(all).rejects.toMatchObject({ code });
    const some = { of: (teamId: string) => teamId !== 'b', unreadable: () => 'unreadable' };
    expect(await ledger.viewAll(name, some)).toEqual(['a', 'c']);
  });

  test('fails with whatever else goes wrong', async () => {
    const ledger = openLedger(memoryJournal());
    await createTeam(ledger);
    const fail = (): never => {
      throw new RangeError('a mistake');
    };
    await expect(ledger.viewAll(fail, { unreadable: () => 'unreadable' })).rejects.toThrow('a mistake');
  });
});

describe('a team from elsewhere', () => {
  async function batchesOf(): Promise<TeamEvent[][]> {
    const source = openLedger(memoryJournal());
    await createTeam(source);
    const all: Stored[] = await Array.fromAsync(source.read(TEAM, 0));
    return all.map(({ events }) => [...events]);
  }

  test('is added whole, also if somebody looked for it before', async () => {
    const ledger = openLedger(memoryJournal());
    expect(await ledger.view(TEAM, name)).toBe('none');
    await ledger.restore(TEAM, await batchesOf());
    expect(await ledger.view(TEAM, name)).toBe(TEAM);
  });

  test('is added while somebody looks for it, and is heard of once', async () => {
    const journal = watchedJournal(memoryJournal());
    const opening = door();
    journal.loadSnapshot = async () => {
      await opening.pass();
      return undefined;
    };
    const ledger = openLedger(journal);
    const heard: number[] = [];
    ledger.subscribe((_teamId, { seq }) => void heard.push(seq));
    const looking = ledger.view(TEAM, name);
    await expect.poll(opening.waiting).toBe(1);
    const restored = ledger.restore(TEAM, await batchesOf());
    await settleTurns();
    opening.open();
    await Promise.all([looking, restored]);
    await createTask(ledger, 'one');
    await settleTurns();
    expect(heard).toEqual([2]);
    expect(journal.counts.following).toBe(1);
  });

  test('is refused if its name is taken, and by a journal that cannot take it', async () => {
    const journal = memoryJournal();
    const ledger = openLedger(journal);
    await createTeam(ledger);
    const batches = await batchesOf();
    const taken = { code: 'conflict', message: expect.stringContaining('already') as string };
    await expect(ledger.restore(TEAM, batches)).rejects.toMatchObject(taken);
    const full = openLedger({ ...journal, restore: () => Promise.reject(new TeamError('storage', 'full')) });
    await expect(full.restore('new', batches)).rejects.toMatchObject({ message: 'full' });
    const servers = { ...journal };
    delete servers.restore;
    await expect(openLedger(servers).restore('new', batches)).rejects.toMatchObject({ code: 'unsupported' });
  });
});

test('a team that is dropped while it is opened leaves nothing in memory', async () => {
  const journal = watchedJournal(memoryJournal());
  const ledger = openLedger(journal);
  const opening = door();
  const loadSnapshot = journal.loadSnapshot.bind(journal);
  journal.loadSnapshot = async (team) => {
    await opening.pass();
    return loadSnapshot(team);
  };
  const view = ledger.view(TEAM, name);
  await expect.poll(opening.waiting).toBe(1);
  const drop = ledger.drop(TEAM);
  // The writer of the next call is another one. The first must not take it out of memory.
  const next = new Promise((resolve) => setImmediate(resolve)).then(() => createTeam(ledger));
  await expect.poll(opening.waiting).toBe(2);
  opening.open();
  expect(await view).toBe('none');
  await Promise.all([drop, next]);
  expect(await ledger.view(TEAM, name)).toBe(TEAM);
});

test('a team that is created while another caller asks for it is opened once', async () => {
  const journal = watchedJournal(memoryJournal());
  const read = journal.read.bind(journal);
  const [reading, appending] = [door(), door()];
  let reads = 0;
  journal.read = async function* (...args) {
    // With the first one, the team is opened.
    if (++reads > 1) await reading.pass();
    yield* read(...args);
  };
  journal.beforeAppend = appending.pass;
  const ledger = openLedger(journal);
  const opening = run(ledger, task('too early'));
  await expect.poll(reading.waiting).toBe(1);
  const made = createTeam(ledger);
  reading.open();
  await expect(opening).rejects.toMatchObject({ code: 'not_found' });
  await expect.poll(appending.waiting).toBe(1);
  const seen = ledger.view(TEAM, name);
  appending.open();
  await made;
  expect(await seen).toBe(TEAM);
  expect(journal.counts.opened).toBe(1);
});

describe('in memory', () => {
  const inMemory = (ledger: Ledger): Promise<string[]> => ledger.fromMemory(() => ledger.teams());
  const close = (ledger: Ledger, team: string): Promise<void> =>
    ledger.execute(team, { type: 'team.close', by: '@user', force: true }, () => undefined);

  test('256 teams may be at the same time if nothing else is said', async () => {
    const ledger = openLedger(memoryJournal());
    const names = Array.from({ length: 258 }, (_, i) => `team-${i}`);
    await Promise.all(names.map((team) => createTeam(ledger, { name: team })));
    await Promise.all(names.map((team) => close(ledger, team)));
    expect(await inMemory(ledger)).toHaveLength(258);
    await settleTurns();
    await ledger.view('nobody', name);
    expect(await inMemory(ledger)).toEqual(names.slice(2).toSorted());
  });

  test('a team stays that is being opened while another one leaves', async () => {
    const store = memoryJournal();
    await createTeam(openLedger(store), { name: 'cold' });
    const opening = door();
    const journal: Journal = {
      ...store,
      async loadSnapshot(team) {
        if (team === 'cold') await opening.pass();
        return undefined;
      },
    };
    const ledger = openLedger(journal, { openTeams: 0 });
    await createTeam(ledger);
    await close(ledger, TEAM);
    await settleTurns();
    const cold = ledger.view('cold', name);
    await expect.poll(opening.waiting).toBe(1);
    expect(await ledger.view('nobody', name)).toBe('none');
    expect(await inMemory(ledger)).toEqual([]);
    opening.open();
    expect(await cold).toBe('cold');
  });

  test('one timer looks for teams that may leave, until the ledger closes', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const ledger = new Ledger(memoryJournal());
      for (const team of ['a', 'b']) await createTeam(ledger, { name: team });
      expect(vi.getTimerCount()).toBe(1);
      for (const team of ['a', 'b']) await close(ledger, team);
      await settleTurns();
      vi.advanceTimersByTime(119_999);
      expect(await inMemory(ledger)).toEqual(['a', 'b']);
      vi.advanceTimersByTime(1);
      expect(await inMemory(ledger)).toEqual([]);
      await ledger.close();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('what is there is shown at once, if no other process writes', async () => {
    const ledger = openLedger(memoryJournal(), { exclusive: true });
    await createTeam(ledger);
    await settleTurns();
    const shown: string[] = [];
    void ledger.view(TEAM, (state) => shown.push(name(state)));
    expect(shown).toEqual([TEAM]);
  });
});

test('a team that is dropped is not followed any more, and no snapshot of it is saved', async () => {
  const journal = watchedJournal(memoryJournal());
  const saved: string[] = [];
  journal.saveSnapshot = async (team) => void saved.push(team);
  const ledger = openLedger(journal, { snapshotEvery: 1 });
  await createTeam(ledger);
  await ledger.drop(TEAM);
  ledger.subscribe(() => {});
  await createTeam(ledger);
  await settleTurns();
  expect(journal.counts.following).toBe(1);
  await ledger.drop(TEAM);
  await settleTurns();
  expect(journal.counts.following).toBe(0);
  expect(saved).toEqual([]);
});

test.each(['drop', 'restore'] as const)(
  'a team that leaves memory has saved its snapshot before a %s',
  async (what) => {
    const store = memoryJournal();
    const journal = watchedJournal(store);
    const saving = door();
    const order: string[] = [];
    journal.saveSnapshot = () => saving.pass().then(() => void order.push('saved'));
    journal.drop = async () => void order.push('drop');
    journal.restore = async () => void order.push('restore');
    const ledger = openLedger(journal, { snapshotEvery: 1, openTeams: 0 });
    await createTeam(ledger);
    await ledger.execute(TEAM, { type: 'team.close', by: '@user', force: true }, () => undefined);
    await settleTurns();
    await ledger.view('nobody', name);
    await expect.poll(saving.waiting).toBe(1);
    const done = what === 'drop' ? ledger.drop(TEAM) : ledger.restore(TEAM, []);
    await settleTurns();
    saving.open();
    await done;
    expect(order).toEqual(['saved', what]);
  },
);

test('what a command answers may be wrapped, for tracing', async () => {
  const traced: number[] = [];
  const ledger = openLedger(memoryJournal(), {
    around: (pick) => (state, events) => {
      traced.push(events.length);
      return pick(state, events);
    },
  });
  await createTeam(ledger);
  expect(await createTask(ledger, 'one')).toBe('1');
  expect(traced.at(-1)).toBe(1);
});

test('a command gives up after other processes were first many times', async () => {
  const journal = watchedJournal(memoryJournal());
  const ledger = openLedger(journal);
  await createTeam(ledger);
  journal.appends.length = 0;
  journal.beforeAppend = () => {
    throw new TeamError('journal_conflict', 'not the last');
  };
  await expect(createTask(ledger, 'one')).rejects.toMatchObject({ code: 'overloaded' });
  expect(journal.appends).toHaveLength(1_000);
});

test('a writer that was closed takes no more commands', async () => {
  const options = { turns: new Turns(), onError: () => undefined, onBatch: () => undefined };
  const writer = await TeamWriter.open(memoryJournal(), TEAM, options);
  await writer.close({ snapshot: false });
  await expect(writer.execute([], 0, () => undefined)).rejects.toMatchObject({ code: 'storage' });
});

describe('a snapshot', () => {
  test('is taken in a quiet moment, with what other processes wrote', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const journal = memoryJournal();
      const saved: number[] = [];
      const watched = watchedJournal(journal);
      watched.saveSnapshot = async (_team, { seq }) => void saved.push(seq);
      const ledger = openLedger(watched, { snapshotEvery: 4 });
      await createTeam(ledger);
      await run(ledger, task('one'));
      await settleTurns();
      // A command in between means that it is not quiet.
      await run(ledger, task('two'));
      vi.advanceTimersByTime(2_000);
      await settleTurns();
      expect(saved).toEqual([]);
      await run(openLedger(journal), task('three'));
      vi.advanceTimersByTime(2_000);
      await expect.poll(() => saved).toEqual([4]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is taken without a quiet moment after ten times as many events', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const journal = watchedJournal(memoryJournal());
      const saved: number[] = [];
      journal.saveSnapshot = async (_team, { seq }) => void saved.push(seq);
      const ledger = openLedger(journal, { snapshotEvery: 2, exclusive: true });
      await createTeam(ledger);
      await settleTurns();
      for (let i = 0; i < 40; i++) await run(ledger, { type: 'team.update', by: '@user', description: `d${i}` });
      vi.advanceTimersByTime(2_000);
      await expect.poll(() => saved.length).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });
});
