import { join as joinPath } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { takeSnapshot } from '../../src/core/snapshot.ts';
import { createState } from '../../src/core/state.ts';
import type { Journal, Snapshot } from '../../src/journal/journal.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { Mailbox } from '../../src/ledger/mailbox.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { claim, complete, createTask, createTeam, message, run, TEAM } from './commands.ts';
import { observed } from './observed.ts';
import { openLedger, PLACES, sqlitePlace } from './places.ts';
import type { Place } from './places.ts';
import { watchedJournal } from './watched-journal.ts';

/** Writes about 90 batches. */
async function work(ledger: Ledger, { name = TEAM } = {}): Promise<void> {
  await createTeam(ledger, { name });
  for (let i = 1; i <= 30; i++) {
    const dependencies = i > 3 ? [String(i - 3)] : [];
    await createTask(ledger, `task ${i}`, { dependencies, ...(i % 5 === 0 && { assigneeId: 'ann' }) });
  }
  for (let i = 1; i <= 20; i++) {
    const taskId = await ledger.execute(TEAM, claim('ann'), (_state, [event]) =>
      event?.type === 'task:claimed' ? event.taskId : '',
    );
    await run(ledger, { ...complete('ann', taskId, { result: 'done' }), commandId: `c${i}` });
    await run(ledger, message('ann', `m${i}`, { toId: 'lead', content: `task ${taskId} is done` }));
  }
}

describe.each(PLACES)('opening a team on $name', ({ makePlace }) => {
  /** A place with a long team, and the team's expected state. */
  async function longTeam(options?: ConstructorParameters<typeof Ledger>[1]) {
    const place = makePlace();
    const ledger = new Ledger(place.open(), options);
    await work(ledger);
    const truth = await observed(ledger);
    await ledger.close();
    return { place, truth };
  }

  async function openAnew(place: Place, snapshot?: () => Snapshot | undefined) {
    const journal = watchedJournal(place.open());
    const ledger = openLedger(snapshot ? { ...journal, loadSnapshot: async () => snapshot() } : journal);
    const seen = await observed(ledger);
    return { ledger, seen, batchesRead: journal.counts.batchesRead };
  }

  test('replays every batch if there is no snapshot', async () => {
    const { place, truth } = await longTeam();
    const { seen, batchesRead } = await openAnew(place);
    expect(seen).toEqual(truth);
    expect(batchesRead).toBeGreaterThan(90);
  });

  test('does not replay batches that a snapshot contains', async () => {
    const { place, truth } = await longTeam({ snapshotEvery: 20 });
    const { seen, batchesRead, ledger } = await openAnew(place);
    expect(seen).toEqual(truth);
    expect(batchesRead).toBeLessThan(30);
    await run(ledger, claim('bob'), complete('lead', '29'), message('bob', 'm99', { toId: 'ann', content: 'hello' }));
    expect((await openAnew(place, () => undefined)).seen).toEqual(await observed(ledger));
  });

  test('reads at most four batches if a snapshot was saved at close', async () => {
    const { place, truth } = await longTeam({ snapshotEvery: 400 });
    const { seen, batchesRead } = await openAnew(place);
    expect(seen).toEqual(truth);
    expect(batchesRead).toBeLessThanOrEqual(4);
  });

  test('saves a snapshot at close if there was much to replay', async () => {
    const { place, truth } = await longTeam();
    const ledger = new Ledger(place.open(), { snapshotEvery: 100 });
    await ledger.view(TEAM, () => undefined);
    await ledger.close();
    const { seen, batchesRead } = await openAnew(place);
    expect(seen).toEqual(truth);
    expect(batchesRead).toBeLessThanOrEqual(4);
  });

  test('works although snapshots cannot be saved, and reports the error', async () => {
    const place = makePlace();
    const journal = place.open();
    const errors: string[] = [];
    const ledger = new Ledger(
      {
        ...journal,
        async saveSnapshot() {
          throw new TeamError('storage', 'The disk is full.');
        },
      },
      { snapshotEvery: 20, onError: (error, teamId) => errors.push(`${teamId}: ${String(error)}`) },
    );
    await work(ledger);
    const truth = await observed(ledger);
    await ledger.close();
    expect(errors).toContain(`${TEAM}: TeamError: The disk is full.`);
    expect((await openAnew(place)).seen).toEqual(truth);
  });

  describe('ignores a snapshot that', () => {
    const body = (journal: Journal) => journal.loadSnapshot(TEAM).then((snapshot) => snapshot?.body ?? '');

    test.each<[string, (text: string) => string]>([
      ['is no JSON', (text) => text.slice(0, -10)],
      ['is empty', () => ''],
      ['is something else', () => '[]'],
      ['is nothing', () => 'null'],
      ['is of a newer form', (text) => text.replace(/"format":\d+/, '"format":99')],
      ['has other columns', (text) => text.replace('"withheld"', '"other"')],
      ['lacks parts', (text) => text.slice(0, text.indexOf(',"team"')) + '}'],
      ['has parts that are something else', (text) => text.replace('"tasks":{', '"tasks":7,"before":{')],
      ['has records with missing fields', (text) => text.replace(/"count":\d+/, '"count":100')],
    ])('%s', async (_what, damage) => {
      const { place, truth } = await longTeam({ snapshotEvery: 20 });
      const { seq } = (await place.open().loadSnapshot(TEAM)) as Snapshot;
      const damaged = damage(await body(place.open()));
      const { seen, batchesRead } = await openAnew(place, () => ({ seq, body: damaged }));
      expect(seen).toEqual(truth);
      expect(batchesRead).toBeGreaterThan(90);
    });

    test('is ahead of the stream', async () => {
      const { place, truth } = await longTeam({ snapshotEvery: 20 });
      const ahead = await body(place.open());
      expect((await openAnew(place, () => ({ seq: 1000, body: ahead }))).seen).toEqual(truth);
    });

    test('belongs to another team, even one that was made at the same moment', async () => {
      const now = () => 1_000;
      const { place, truth } = await longTeam({ now });
      const other = openLedger(place.open(), { now });
      await createTeam(other, { name: 'other' });
      const foreign = await other.view('other', (state) => takeSnapshot(state));
      expect((await openAnew(place, () => ({ seq: 1, body: foreign }))).seen).toEqual(truth);
    });

    test('has no team in it', async () => {
      const { place, truth } = await longTeam();
      const body = takeSnapshot(createState(TEAM));
      expect((await openAnew(place, () => ({ seq: 1, body }))).seen).toEqual(truth);
    });

    test('is all that is left of a team', async () => {
      const { place } = await longTeam({ snapshotEvery: 20 });
      const old = (await place.open().loadSnapshot(TEAM)) as Snapshot;
      const { seen } = await openAnew(makePlace(), () => old);
      expect(seen).toEqual(await observed(openLedger(makePlace().open())));
    });

    test('belongs to a dropped team of the same name', async () => {
      const { place } = await longTeam({ snapshotEvery: 20 });
      const old = (await place.open().loadSnapshot(TEAM)) as Snapshot;
      await place.open().drop(TEAM);
      const ledger = openLedger(place.open(), { now: () => Date.now() + 60_000 });
      await work(ledger);
      expect((await openAnew(place, () => old)).seen).toEqual(await observed(ledger));
    });
  });

  test('fails each time if the team cannot be read, and never shows it as empty', async () => {
    const place = makePlace();
    const journal = watchedJournal(place.open());
    const ledger = new Ledger(journal);
    await work(ledger);
    await createTeam(ledger, { name: 'healthy' });
    await ledger.close();
    await expectRefusal({ ...journal, read: unreadable(journal, 5) }, 'corrupt');
    await expectRefusal({ ...journal, read: unreadable(journal, 1) }, 'corrupt');
  });

  test('fails if a batch contains something other than events', async () => {
    const place = makePlace();
    await work(openLedger(place.open()));
    await createTeam(openLedger(place.open()), { name: 'healthy' });
    const journal = place.open();
    for (const nonsense of [[null], [{ type: 'message:sent' }], 7]) {
      const events = nonsense as unknown as TeamEvent[];
      await expectRefusal({ ...journal, read: replacing(journal, 7, events) }, 'corrupt');
    }
  });

  test('fails if a newer version has written to the team', async () => {
    const place = makePlace();
    await work(openLedger(place.open()));
    await createTeam(openLedger(place.open()), { name: 'healthy' });
    const journal = place.open();
    const events = [{ type: 'task:teleported', at: 1, by: 'lead', taskId: '1' }] as unknown as TeamEvent[];
    await expectRefusal({ ...journal, read: replacing(journal, 7, events) }, 'unsupported');
  });

  test('applies a batch of another process completely or not at all', async () => {
    const place = makePlace();
    const writer = openLedger(place.open());
    await createTeam(writer);
    await createTask(writer, 'one');
    const journal = place.open();
    const update = { type: 'task:updated', at: 1, by: 'lead', taskId: '1', title: 'two' } as const;
    let read = replacing(journal, 3, [update, null as unknown as TeamEvent]);
    const ledger = openLedger({ ...journal, read: (team, after) => read(team, after) });
    await ledger.view(TEAM, () => undefined);
    await run(writer, { ...update, type: 'task.update' });
    await expect(observed(ledger)).rejects.toMatchObject({ code: 'corrupt' });
    await expect(createTask(ledger, 'three')).rejects.toMatchObject({ code: 'corrupt' });
    read = (team, after) => journal.read(team, after);
    expect(await observed(ledger)).toEqual(await observed(writer));
  });
});

test('a damaged row in a file harms only its team, and nothing is written to that team', async () => {
  const path = joinPath(temporaryFolder(), 'journal.db');
  const place = sqlitePlace(path);
  const writer = new Ledger(place.open());
  await work(writer);
  await createTeam(writer, { name: 'healthy' });
  await writer.close();
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  const { id } = db.prepare(`SELECT min(id) + 4 AS id FROM batches WHERE body LIKE '%task 10%'`).get() as {
    id: number;
  };
  const damages = [
    `UPDATE batches SET body = substr(body, 1, 20) WHERE id = ${id}`,
    `UPDATE batches SET body = replace(body, 'medium', 'MEDIUM') WHERE id = ${id}`,
    `UPDATE batches SET sum = sum + 1 WHERE id = ${id}`,
    `DELETE FROM batches WHERE id = ${id}`,
  ];
  for (const damage of damages) {
    db.exec(damage);
    const dump = () =>
      db
        .prepare(`SELECT * FROM batches WHERE id < (SELECT id + 1 FROM teams WHERE name = '${TEAM}') * 4294967296`)
        .all();
    const before = dump();
    await expectRefusal(place.open(), 'corrupt');
    expect(dump()).toEqual(before);
  }
});

/** Every call to the unreadable team fails, another team works, and nothing is appended to the unreadable one. */
async function expectRefusal(journal: Journal, code: string): Promise<void> {
  const watched = watchedJournal(journal);
  const ledger = openLedger(watched);
  const tasks = new SharedTaskList(ledger);
  const mailbox = new Mailbox(ledger);
  onTestFinished(() => {
    tasks.close();
    mailbox.close();
  });
  const calls = () => [
    tasks.listTasks(TEAM),
    tasks.getTask(TEAM, '1'),
    tasks.getClaimableTasksForTeammate(TEAM, 'ann'),
    tasks.claimNextTask(TEAM, 'ann'),
    tasks.createTask(TEAM, 'lead', { title: 'more' }),
    mailbox.getInbox(TEAM, 'lead'),
    mailbox.send(TEAM, 'ann', { toId: 'lead', content: 'hello' }),
    createTeam(ledger),
  ];
  for (let round = 0; round < 2; round++) {
    for (const outcome of await Promise.allSettled(calls())) expect(outcome).toMatchObject({ reason: { code } });
    const added = await tasks.createTask('healthy', 'lead', { title: 'fine' });
    expect(await tasks.listTasks('healthy')).toContainEqual(added);
  }
  expect(watched.appends).toHaveLength(2);
  expect(await ledger.teams()).toEqual([TEAM, 'healthy']);
}

/** A `read` that fails at one batch of the test's team. */
function unreadable(journal: Journal, bad: number): Journal['read'] {
  return async function* (team, after) {
    for await (const batch of journal.read(team, after)) {
      if (team === TEAM && batch.seq === bad) throw new TeamError('corrupt', `Batch ${bad} cannot be read.`);
      yield batch;
    }
  };
}

/** A `read` that returns other events in place of one batch of the test's team. */
function replacing(journal: Journal, seq: number, events: readonly TeamEvent[]): Journal['read'] {
  return async function* (team, after) {
    for await (const batch of journal.read(team, after)) {
      yield team === TEAM && batch.seq === seq ? { seq, events } : batch;
    }
  };
}
