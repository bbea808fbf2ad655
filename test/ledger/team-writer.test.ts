import { describe, expect, onTestFinished, test } from 'vitest';
import { USER } from '../../src/core/actor.ts';
import type { Command } from '../../src/core/command.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { TeamWriter } from '../../src/ledger/team-writer.ts';
import { Turns } from '../../src/ledger/turns.ts';
import { claim, message, task, TEAM, teamCommands } from './commands.ts';
import { door, settleTurns, watchedJournal } from './watched-journal.ts';

/** Counts how often a writer waited for the end of a turn. */
class CountedTurns extends Turns {
  count = 0;

  override end(): Promise<void> {
    this.count++;
    return super.end();
  }
}

type WriterOptions = Partial<Parameters<typeof TeamWriter.open>[2]>;

/** A writer whose clock is what each command says. */
async function openWriter(store: Journal = memoryJournal(), options: WriterOptions = {}) {
  const journal = watchedJournal(store);
  const turns = new CountedTurns();
  const heard: number[] = [];
  const errors: unknown[] = [];
  const writer = await TeamWriter.open(journal, TEAM, {
    turns,
    onBatch: ({ seq }) => void heard.push(seq),
    onError: (error) => void errors.push(error),
    ...options,
  });
  onTestFinished(() => writer.close({ snapshot: false }));
  const run = (commands: NewCommand | readonly NewCommand[], at = 0): Promise<void> =>
    writer.execute(
      [commands].flat().map((command): Command => ({ ...command, at })),
      at,
      () => undefined,
    );
  return { writer, journal, turns, heard, errors, run };
}

/** The same with a team. */
async function openTeam(options?: WriterOptions, store?: Journal) {
  const opened = await openWriter(store, options);
  await opened.run(teamCommands(TEAM, ['ann', 'bob']));
  opened.journal.appends.length = 0;
  return opened;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('the commits of a team that is busy', () => {
  test('let timers and sockets have their turn before each 32', async () => {
    // To create the team was the first commit.
    const { turns, run } = await openTeam();
    expect(turns.count).toBe(1);
    for (let i = 2; i <= 32; i++) await run(task('one'));
    expect(turns.count).toBe(1);
    for (let i = 33; i <= 64; i++) await run(task('one'));
    expect(turns.count).toBe(2);
    await run(task('one'));
    expect(turns.count).toBe(3);
  });

  test('let them have their turn each 2 ms, too, by the time of the commands', async () => {
    const { turns, run } = await openTeam();
    const counts: number[] = [];
    for (const at of [0, 1, 2, 3, 4]) {
      await run(task('one'), at);
      counts.push(turns.count);
    }
    expect(counts).toEqual([1, 1, 2, 2, 3]);
  });

  test('do not wait for others if a caller came alone', async () => {
    const { turns, run } = await openTeam();
    for (let i = 0; i < 3; i++) {
      await nextTurn();
      await run(task('one'));
    }
    expect(turns.count).toBe(1);
  });

  test('are shared by callers that continue at once, however many steps each takes', async () => {
    const { journal, turns, run } = await openTeam();
    const caller = async (steps: number): Promise<void> => {
      await run(task('one'));
      for (let step = 0; step < steps; step++) await Promise.resolve();
      await run(task('two'));
    };
    await Promise.all([caller(0), caller(100)]);
    expect(journal.appends).toEqual([2, 2]);
    expect(turns.count).toBe(1);
  });

  test('are shared by callers that were answered together and come again one turn after the other', async () => {
    const { journal, turns, run } = await openTeam();
    await Promise.all([run(task('one')), run(task('two'))]);
    await settleTurns();
    const { count } = turns;
    const first = run(task('three'));
    await nextTurn();
    await Promise.all([first, run(task('four'))]);
    expect(journal.appends).toEqual([2, 2]);
    expect(turns.count).toBe(count + 1);
  });

  test('wait at most four more turns for a caller that does not come again', async () => {
    const { journal, turns, run } = await openTeam();
    await Promise.all([run(task('one')), run(task('two'))]);
    await settleTurns();
    const { count } = turns;
    await run(task('three'));
    expect(journal.appends).toEqual([2, 1]);
    expect(turns.count).toBe(count + 5);
  });
});

describe('a writer', () => {
  test('may leave memory when its team is closed, nothing is under way, and nobody used it since the last look', async () => {
    const store = memoryJournal();
    const { writer, run } = await openTeam({}, store);
    const look = (): boolean[] => [writer.isAtRest(), writer.isAtRest()];
    expect(look()).toEqual([false, false]);
    await run({ type: 'team.close', by: USER, force: true });
    await settleTurns();
    expect(look()).toEqual([false, true]);
    const refused = run(task('late'));
    expect(writer.canLeave).toBe(false);
    await expect(refused).rejects.toMatchObject({ code: 'team_closed' });
    await settleTurns();
    expect(look()).toEqual([false, true]);
    await writer.view(() => undefined);
    expect(look()).toEqual([false, true]);
    const another = (await openWriter(store)).writer;
    expect([another.isAtRest(), another.isAtRest()]).toEqual([false, true]);
    const empty = (await openWriter()).writer;
    expect([empty.isAtRest(), empty.isAtRest()]).toEqual([false, false]);
  });

  test('shows at once what it has in memory, unless a commit is under way', async () => {
    const { writer, journal, run } = await openTeam();
    const shown: number[] = [];
    const show = (): void => void writer.recall(({ tasks }) => shown.push(tasks.size));
    await settleTurns();
    show();
    expect(shown).toEqual([0]);
    const gate = door();
    journal.beforeAppend = gate.pass;
    const call = run(task('one'));
    await expect.poll(gate.waiting).toBe(1);
    show();
    expect(shown).toEqual([0]);
    gate.open();
    await call;
    await settleTurns();
    expect(shown).toEqual([0, 1]);
  });

  test('reads nothing to commit what changes the team, also while others wait', async () => {
    const { journal, run } = await openTeam();
    const gate = door();
    journal.beforeAppend = gate.pass;
    const calls = [run(task('one'))];
    await expect.poll(gate.waiting).toBe(1);
    for (let i = 0; i < 3; i++) {
      calls.push(run(task('two')));
      await nextTurn();
    }
    gate.open();
    await Promise.all(calls);
    await settleTurns();
    expect(journal.appends).toEqual([1, 3]);
    expect(journal.counts.batchesRead).toBe(0);
  });

  test('reads nothing of what it wrote itself, although it follows', async () => {
    const store = memoryJournal();
    const { writer, journal, heard, run } = await openTeam(
      {},
      {
        ...store,
        // Hears of a batch a little later, as from a server.
        async *follow(...args) {
          for await (const batch of store.follow(...args)) {
            await nextTurn();
            yield batch;
          }
        },
      },
    );
    writer.watch();
    for (let i = 0; i < 3; i++) {
      await run(task('one'));
      await settleTurns();
    }
    expect(heard).toEqual([1, 2, 3, 4]);
    expect(journal.counts).toMatchObject({ following: 1, batchesRead: 0 });
  });

  test('follows what other processes write only if asked to', async () => {
    const { writer, journal, run } = await openTeam();
    await run(task('one'));
    await writer.view(() => undefined);
    await settleTurns();
    expect(journal.counts.following).toBe(0);
  });

  test('follows a team that is dropped and made again, also right after a large commit', async () => {
    const store = memoryJournal();
    const { writer, heard } = await openTeam({}, store);
    writer.watch();
    const rival = await openWriter(store);
    await rival.run(Array.from({ length: 30 }, () => task('one of many')));
    await settleTurns();
    expect(heard).toEqual([1, 2]);
    await store.drop(TEAM);
    await settleTurns();
    await (await openWriter(store)).run(teamCommands(TEAM, ['cy']));
    await settleTurns();
    expect(heard).toEqual([1, 2, 1]);
  });

  test('follows no more if the journal stops to tell although the team is the same', async () => {
    const store = memoryJournal();
    let times = 0;
    const { writer, errors } = await openTeam(
      {},
      {
        ...store,
        async *follow() {
          times++;
          yield* [];
        },
      },
    );
    writer.watch();
    await settleTurns();
    expect(times).toBe(1);
    expect(errors).toEqual([]);
    // With the next call it tries again.
    await writer.view(() => undefined);
    await settleTurns();
    expect(times).toBe(2);
  });

  test('sees at once what others wrote, also after a large commit of its own', async () => {
    const store = memoryJournal();
    const { writer, run } = await openTeam({}, store);
    const rival = await openWriter(store);
    await run(Array.from({ length: 30 }, () => task('one of many')));
    await writer.view(() => undefined);
    await rival.run(task('another'));
    expect(await writer.view(({ tasks }) => tasks.size)).toBe(31);
  });

  test('takes a snapshot for as many events as there are tasks and messages', async () => {
    const store = memoryJournal();
    const { writer, run } = await openTeam({ snapshotEvery: 1 }, store);
    await run(Array.from({ length: 6 }, (_, i) => message('ann', `m${i}`, { toId: 'bob', content: 'hello' })));
    await writer.close({ snapshot: true });
    expect(await store.loadSnapshot(TEAM)).toMatchObject({ seq: 2 });
    const again = await openWriter(store, { snapshotEvery: 1 });
    await again.run(task('one'));
    // One event is less than a fifth of seven.
    await again.writer.close({ snapshot: true });
    expect(await store.loadSnapshot(TEAM)).toMatchObject({ seq: 2 });
  });

  test('keeps nothing to take back once a commit is stored', async () => {
    const { writer, run } = await openTeam();
    await run(task('one'));
    expect(await writer.recall(({ undo }) => undo)).toBeUndefined();
  });

  test('asks the rules once about a command that changes nothing, if nothing is new', async () => {
    const { writer, run } = await openTeam();
    let picked = 0;
    const ask = (): Promise<void> => writer.execute([{ type: 'task.claim', by: 'ann', at: 0 }], 0, () => void picked++);
    await ask();
    expect(picked).toBe(1);
    // The last batch is large now: it is not read again at once.
    await run([claim('ann'), ...Array.from({ length: 30 }, () => task('one', { assigneeId: 'bob' }))]);
    await writer.view(() => undefined);
    await ask();
    expect(picked).toBe(2);
  });

  test('refuses commands when 10,000 wait, if nothing else is said', async () => {
    const { writer, journal } = await openTeam();
    const gate = door();
    journal.beforeAppend = gate.pass;
    const change = [{ type: 'team.update', by: USER, description: 'new', at: 0 }] as const;
    const ask = (): Promise<void> => writer.execute(change, 0, () => undefined);
    const calls = [ask()];
    await expect.poll(gate.waiting, { interval: 1 }).toBe(1);
    for (let i = 0; i < 10_000; i++) calls.push(ask());
    await expect(ask()).rejects.toMatchObject({ code: 'overloaded' });
    gate.open();
    await Promise.all(calls);
  });

  test('answers its callers with what the journal throws, whatever it is', async () => {
    const { journal, run } = await openTeam();
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a journal may do that
    journal.beforeAppend = () => Promise.reject(undefined);
    await expect(run(task('one'))).rejects.toBeUndefined();
    journal.beforeAppend = () => {};
    await run(task('one'));
  });
});

describe('a writer that closes', () => {
  test('waits for the commit that is under way', async () => {
    const { writer, journal, run } = await openTeam();
    const gate = door();
    journal.beforeAppend = gate.pass;
    const order: string[] = [];
    const call = run(task('one')).then(() => order.push('stored'));
    await expect.poll(gate.waiting).toBe(1);
    const closing = writer.close({ snapshot: false }).then(() => order.push('closed'));
    await settleTurns();
    gate.open();
    await Promise.all([call, closing]);
    expect(order).toEqual(['stored', 'closed']);
  });

  test('waits until it follows no more', async () => {
    const store = memoryJournal();
    let following = 0;
    const { writer } = await openTeam(
      {},
      {
        ...store,
        async *follow(...args) {
          following++;
          try {
            yield* store.follow(...args);
          } finally {
            await settleTurns();
            following--;
          }
        },
      },
    );
    writer.watch();
    await settleTurns();
    expect(following).toBe(1);
    await writer.close({ snapshot: false });
    expect(following).toBe(0);
  });

  test('takes in and reports nothing more, and its snapshot is of what it has', async () => {
    const store = memoryJournal();
    const { writer, heard, errors } = await openTeam(
      { snapshotEvery: 1 },
      {
        ...store,
        // Hears of nothing before it ends.
        async *follow(_team, _after, signal) {
          if (signal.aborted) throw new Error('followed after the end');
          await new Promise((resolve) => {
            signal.addEventListener('abort', resolve);
          });
          yield* [];
        },
      },
    );
    writer.watch();
    const rival = await openWriter(store);
    await rival.run(task('one'));
    await writer.close({ snapshot: true });
    expect(await store.loadSnapshot(TEAM)).toMatchObject({ seq: 1 });
    await store.close();
    expect(await writer.view(({ tasks }) => tasks.size)).toBe(0);
    await settleTurns();
    expect(heard).toEqual([1]);
    expect(errors).toEqual([]);
  });

  test('reads nothing for its snapshot if no other process writes', async () => {
    const store = memoryJournal();
    const { writer, journal } = await openTeam({ snapshotEvery: 1, exclusive: true }, store);
    await writer.close({ snapshot: true });
    expect(await store.loadSnapshot(TEAM)).toMatchObject({ seq: 1 });
    expect(journal.counts.batchesRead).toBe(0);
  });
});
