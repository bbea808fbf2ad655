import { join as joinPath } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ClaimConflictError, TeamError } from '../../src/core/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import { startFixture } from '../journal/children.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { claim, createTask, createTeam, run, task, TEAM } from './commands.ts';
import { observed } from './observed.ts';
import { openLedger, PLACES, sqlitePlace } from './places.ts';
import { door, settleTurns, watchedJournal } from './watched-journal.ts';

describe.each(PLACES)('ledgers that share a journal on $name', ({ makePlace }) => {
  async function openTwo() {
    const place = makePlace();
    const journal = watchedJournal(place.open());
    const ledger = openLedger(journal);
    const rival = openLedger(place.open());
    await createTeam(ledger);
    await rival.view(TEAM, () => undefined);
    return { place, journal, ledger, rival };
  }

  test('decide again when the other appended first', async () => {
    const { ledger, rival, journal } = await openTwo();
    await createTask(ledger, 'one');
    journal.beforeAppend = async () => {
      journal.beforeAppend = () => {};
      await run(rival, claim('bob', '1'));
    };
    journal.counts.batchesRead = 0;
    await expect(run(ledger, claim('ann', '1'))).rejects.toBeInstanceOf(ClaimConflictError);
    // The last batch that it knew, and that of the other.
    expect(journal.counts.batchesRead).toBe(2);
    expect(await ledger.view(TEAM, ({ tasks }) => tasks.get('1'))).toMatchObject({ assigneeId: 'bob', epoch: 1 });
  });

  test('lose nothing and assign no id twice while both write', async () => {
    const { ledger, rival, place } = await openTwo();
    const ids = await Promise.all(
      [ledger, rival].flatMap((one) =>
        Array.from({ length: 8 }, async (_, i) => {
          const own: string[] = [];
          for (let round = 0; round < 8; round++) own.push(await createTask(one, `task ${i}.${round}`));
          return own;
        }),
      ),
    );
    expect(new Set(ids.flat()).size).toBe(128);
    const seen = await observed(openLedger(place.open()));
    expect(await observed(ledger)).toEqual(seen);
    expect(await observed(rival)).toEqual(seen);
  });

  test('apply a batch of the other once, even during concurrent views', async () => {
    const { ledger, rival } = await openTwo();
    await createTask(ledger, 'one');
    for (let round = 2; round < 5; round++) {
      await run(ledger, { type: 'task.update', by: 'lead', taskId: '1', title: `round ${round}` });
      const look = () => rival.view(TEAM, ({ tasks }) => tasks.get('1')?.revision);
      expect(await Promise.all([look(), look(), look()])).toEqual([round, round, round]);
    }
  });

  test('never refuse a command because of an outdated state', async () => {
    const { ledger, rival } = await openTwo();
    await createTask(ledger, 'one');
    await run(rival, claim('bob', '1'));
    await run(ledger, { type: 'task.release', by: 'lead', taskId: '1' });
    await run(rival, claim('bob'));
    await run(ledger, { type: 'task.release', by: 'lead', taskId: '1' });
    const again = await rival.execute(TEAM, claim('bob'), (_state, events) => events.length);
    expect(again).toBe(1);
  });

  test('refuse a command although others write all the time', async () => {
    const place = makePlace();
    const journal = place.open();
    const writer = openLedger(place.open());
    await createTeam(writer);
    const ledger = openLedger({
      ...journal,
      async *read(...args) {
        await createTask(writer, 'another');
        yield* journal.read(...args);
      },
    });
    await expect(run(ledger, claim('ann', 'none'))).rejects.toMatchObject({ code: 'not_found' });
  });

  test('report each batch to subscribers once, their own and the other’s', async () => {
    const { ledger, rival } = await openTwo();
    const heard: number[] = [];
    onTestFinished(rival.subscribe((_teamId, { seq }) => void heard.push(seq)));
    for (let i = 0; i < 5; i++) {
      await createTask(ledger, 'theirs');
      await createTask(rival, 'own');
    }
    await createTask(ledger, 'last');
    await expect.poll(() => heard.length).toBe(11);
    await settleTurns();
    expect(heard).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  test.each<[string, (ledger: Ledger) => Promise<unknown>]>([
    ['look', (ledger) => ledger.view(TEAM, () => undefined)],
    ['command', (ledger) => run(ledger, claim('ann'))],
  ])('follow each other again after an error of the journal, with the next %s', async (_what, call) => {
    const place = makePlace();
    const errors: unknown[] = [];
    const journal = watchedJournal(place.open());
    const ledger = openLedger(place.open());
    await createTeam(ledger);
    let broken = true;
    const listener = openLedger(
      {
        ...journal,
        async *follow(...args) {
          if (broken) throw new TeamError('storage', 'Too many open files.');
          yield* journal.follow(...args);
        },
      },
      { onError: (error) => errors.push(error) },
    );
    const heard: number[] = [];
    onTestFinished(listener.subscribe((_teamId, { seq }) => void heard.push(seq)));
    await listener.view(TEAM, () => undefined);
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    broken = false;
    await call(listener);
    await createTask(ledger, 'one');
    await expect.poll(() => heard).toEqual([2]);
  });

  describe('notice that the other', () => {
    test('dropped the team', async () => {
      const { ledger, rival } = await openTwo();
      const tasks = new SharedTaskList(rival);
      onTestFinished(() => tasks.close());
      await createTask(rival, 'old');
      await ledger.drop(TEAM);
      await expect(tasks.listTasks(TEAM)).rejects.toMatchObject({ code: 'not_found' });
      await expect(createTask(rival, 'new')).rejects.toMatchObject({ code: 'not_found' });
      await createTeam(rival, { members: ['cy'] });
      expect(await createTask(rival, 'new')).toBe('1');
      expect(await observed(ledger)).toEqual(await observed(rival));
    });

    test.each([
      ['shorter', 0],
      ['of the same length', 2],
      ['longer', 5],
    ])('made the team again, and the new one is %s', async (_how, tasks) => {
      const { ledger, rival, place } = await openTwo();
      for (let i = 0; i < 2; i++) await createTask(rival, 'old');
      await ledger.drop(TEAM);
      await createTeam(ledger, { members: ['cy'] });
      for (let i = 0; i < tasks; i++) await createTask(ledger, 'new');
      expect(await observed(rival)).toEqual(await observed(openLedger(place.open())));
      await run(rival, task('newest'), claim('cy'));
      expect(await observed(rival)).toEqual(await observed(openLedger(place.open())));
      expect(await observed(ledger)).toEqual(await observed(rival));
    });

    test('dropped a large team: a view notices soon, a command at once', async () => {
      const { ledger, rival, journal } = await openTwo();
      await run(rival, ...Array.from({ length: 100 }, () => task('one of many')));
      const size = () => ledger.view(TEAM, ({ tasks }) => tasks.size);
      expect(await size()).toBe(100);
      journal.counts.batchesRead = 0;
      for (let i = 0; i < 20; i++) expect(await size()).toBe(100);
      expect(journal.counts.batchesRead).toBeLessThan(5);
      await rival.drop(TEAM);
      journal.appends.length = 0;
      await expect(createTask(ledger, 'late')).rejects.toMatchObject({ code: 'not_found' });
      expect(journal.appends).toHaveLength(1);

      await createTeam(rival);
      await run(rival, ...Array.from({ length: 100 }, () => task('one of many')));
      expect(await size()).toBe(100);
      await rival.drop(TEAM);
      await expect.poll(size).toBe(0);
    });

    test.each([
      ['shorter', 0],
      ['longer', 5],
    ])('made the team again, when a command comes first, and the new one is %s', async (_how, tasks) => {
      const { ledger, rival, place } = await openTwo();
      for (let i = 0; i < 2; i++) await createTask(rival, 'old');
      await ledger.drop(TEAM);
      await createTeam(ledger, { members: ['cy'] });
      for (let i = 0; i < tasks; i++) await createTask(ledger, 'new');
      expect(await createTask(rival, 'newest')).toBe(String(tasks + 1));
      await expect(run(rival, claim('ann'))).rejects.toMatchObject({ code: 'not_found' });
      expect(await observed(rival)).toEqual(await observed(openLedger(place.open())));
    });

    test.each([
      ['the last of many events', 21, 20],
      ['one of few', 16, 8],
    ])('made the team again at the same moment, and only %s is another', async (_what, events, other) => {
      const place = makePlace();
      const options = { now: () => 1_000 };
      const [ledger, rival] = [openLedger(place.open(), options), openLedger(place.open(), options)];
      const make = async (title: string) => {
        await createTeam(ledger);
        await run(ledger, ...Array.from({ length: events }, (_, i) => task(i === other ? title : 'same')));
      };
      const seen = () => rival.view(TEAM, ({ tasks }) => tasks.get(String(other + 1))?.title);
      await make('old');
      expect(await seen()).toBe('old');
      await ledger.drop(TEAM);
      await make('new');
      await expect.poll(seen).toBe('new');
    });

    test('made the team again, and follow the new one', async () => {
      const { ledger, rival } = await openTwo();
      const titles: string[] = [];
      onTestFinished(
        rival.subscribe((_teamId, { events }) => {
          for (const event of events) if (event.type === 'task:created') titles.push(event.title);
        }),
      );
      await createTask(ledger, 'old');
      await expect.poll(() => titles).toEqual(['old']);
      await ledger.drop(TEAM);
      await createTeam(ledger);
      await rival.view(TEAM, () => undefined);
      await createTask(ledger, 'new');
      await expect.poll(() => titles).toEqual(['old', 'new']);
    });
  });
});

describe.each(PLACES)('an exclusive ledger on $name', ({ makePlace }) => {
  test('never reads again what it has in memory', async () => {
    const journal = watchedJournal(makePlace().open());
    const ledger = openLedger(journal, { exclusive: true });
    await createTeam(ledger);
    await createTask(ledger, 'one');
    expect(await ledger.view(TEAM, ({ tasks }) => tasks.size)).toBe(1);
    await expect(run(ledger, claim('ann', '9'))).rejects.toMatchObject({ code: 'not_found' });
    onTestFinished(ledger.subscribe(() => {}));
    await settleTurns();
    expect(journal.counts).toEqual({ opened: 1, batchesRead: 0, following: 0 });
  });

  test('loses nothing even if another ledger writes', async () => {
    const place = makePlace();
    const ledger = openLedger(place.open(), { exclusive: true });
    await createTeam(ledger);
    const rival = openLedger(place.open());
    await createTask(rival, 'one');
    expect(await createTask(ledger, 'two')).toBe('2');
    expect(await observed(ledger)).toEqual(await observed(rival));
  });
});

describe.each(PLACES)('asking a ledger on $name for teams that do not exist', ({ makePlace }) => {
  test('fails with not_found and leaves nothing in memory, even with a subscriber', async () => {
    const journal = watchedJournal(makePlace().open());
    const ledger = openLedger(journal);
    const tasks = new SharedTaskList(ledger);
    onTestFinished(() => tasks.close());
    for (let i = 0; i < 50; i++) {
      const calls = [tasks.listTasks('ghost'), tasks.getTask('ghost', '1'), tasks.claimNextTask('ghost', 'ann')];
      for (const outcome of await Promise.allSettled(calls)) {
        expect(outcome).toMatchObject({ reason: { code: 'not_found' } });
      }
    }
    // Each round found nothing in memory, so it tried to open the team again.
    expect(journal.counts.opened).toBe(50);
    expect(journal.counts.following).toBe(0);
    expect(await ledger.teams()).toEqual([]);
  });

  test('does not disturb a concurrent creation, whose batches are reported once', async () => {
    const journal = watchedJournal(makePlace().open());
    const ledger = openLedger(journal);
    const heard: string[] = [];
    onTestFinished(ledger.subscribe((teamId, { seq }) => void heard.push(`${teamId} ${seq}`)));
    const names = Array.from({ length: 20 }, (_, i) => `team-${i}`);
    for (const [i, name] of names.entries()) {
      // Tries different orders of the views and the creation, within some turns of the event loop.
      const looking = Array.from({ length: i }, () => ledger.view(name, () => undefined));
      if (i % 2 === 0) await looking[0];
      const making = createTeam(ledger, { name });
      await Promise.all([...looking, making, ledger.view(name, () => undefined)]);
      await ledger.view(name, () => undefined);
    }
    await Promise.all(names.map((name) => ledger.execute(name, task('one'), () => undefined)));
    await settleTurns();
    expect(heard.sort()).toEqual(names.flatMap((name) => [`${name} 1`, `${name} 2`]).sort());
    expect(journal.counts.following).toBe(names.length);
  });
});

describe.each(PLACES)('a dropped team on $name', ({ makePlace }) => {
  test('does not exist any more, and can be made again', async () => {
    const ledger = openLedger(makePlace().open());
    await createTeam(ledger);
    await createTask(ledger, 'old');
    await ledger.drop(TEAM);
    expect(await ledger.teams()).toEqual([]);
    await expect(createTask(ledger, 'none')).rejects.toMatchObject({ code: 'not_found' });
    await createTeam(ledger);
    expect(await createTask(ledger, 'new')).toBe('1');
    await ledger.drop('never-was');
  });

  test('leaves no caller without an answer if it was in use', async () => {
    const journal = watchedJournal(makePlace().open());
    const ledger = openLedger(journal);
    await createTeam(ledger);
    const gate = door();
    journal.beforeAppend = gate.pass;
    const calls = Array.from({ length: 5 }, () => createTask(ledger, 'one'));
    await expect.poll(gate.waiting).toBe(1);
    const dropping = ledger.drop(TEAM);
    const answers = Promise.allSettled([...calls, createTask(ledger, 'late')]);
    gate.open();
    await dropping;
    for (const outcome of await answers) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'not_found' });
    }
    await expect(createTask(ledger, 'after')).rejects.toMatchObject({ code: 'not_found' });
    expect(journal.counts.following).toBe(0);
  });
});

test('two processes that write to one file at the same time lose nothing and assign no id twice', async () => {
  const path = joinPath(temporaryFolder(), 'journal.db');
  const ledger = openLedger(sqlitePlace(path).open());
  await createTeam(ledger);
  const heard: number[] = [];
  onTestFinished(ledger.subscribe((_teamId, { seq }) => void heard.push(seq)));
  const child = startFixture('ledger-creator', [path, TEAM, '200']);
  const own: string[] = [];
  for (let i = 0; i < 200; i++) own.push(await createTask(ledger, `ours ${i}`));
  expect(await child.ended).toEqual({ code: 0, signal: null, errors: '' });
  const theirs = child.lines;
  expect(new Set([...own, ...theirs]).size).toBe(400);
  const titles = await ledger.view(TEAM, ({ tasks }) => new Map([...tasks].map(([id, { title }]) => [id, title])));
  expect(titles.size).toBe(400);
  expect(own.map((id) => titles.get(id))).toEqual(own.map((_, i) => `ours ${i}`));
  expect(theirs.map((id) => titles.get(id))).toEqual(theirs.map((_, i) => `theirs ${i}`));
  // The first batch made the team. Each later batch has one task, and was reported once and in order.
  expect(heard).toEqual(Array.from({ length: 400 }, (_, i) => i + 2));
});
