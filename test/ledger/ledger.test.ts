import { describe, expect, onTestFinished, test } from 'vitest';
import { USER } from '../../src/core/actor.ts';
import { TeamError } from '../../src/core/errors.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { claim, complete, createTask, createTeam, join, leave, message, run, task, TEAM } from './commands.ts';
import { observed } from './observed.ts';
import { openLedger, PLACES } from './places.ts';
import { door, settleTurns, watchedJournal } from './watched-journal.ts';

const FULL = () => {
  throw new TeamError('storage', 'The disk is full.');
};

describe.each(PLACES)('a ledger on $name', ({ makePlace }) => {
  async function openTeam(options?: ConstructorParameters<typeof Ledger>[1]) {
    const place = makePlace();
    const journal = watchedJournal(place.open());
    const ledger = openLedger(journal, options);
    await createTeam(ledger);
    journal.appends.length = 0;
    /** The state as a new ledger reads it. */
    const observedAnew = () => observed(openLedger(place.open()));
    return { place, journal, ledger, observedAnew };
  }

  test('puts the commands of 128 concurrent callers into at most two commits', async () => {
    const { ledger, journal } = await openTeam();
    const ids = await Promise.all(Array.from({ length: 128 }, (_, i) => createTask(ledger, `task ${i}`)));
    expect(ids).toEqual(Array.from({ length: 128 }, (_, i) => String(i + 1)));
    expect(journal.appends.length).toBeLessThanOrEqual(2);
  });

  test('puts all commands that wait for a running commit into the next one', async () => {
    const { ledger, journal } = await openTeam();
    const gate = door();
    journal.beforeAppend = gate.pass;
    const first = createTask(ledger, 'first');
    await expect.poll(gate.waiting).toBe(1);
    const others = Array.from({ length: 127 }, (_, i) => createTask(ledger, `task ${i}`));
    gate.open();
    await Promise.all([first, ...others]);
    expect(journal.appends).toEqual([1, 127]);
  });

  test('answers no caller before the commit is durable', async () => {
    const { ledger, journal } = await openTeam();
    const gate = door();
    journal.afterAppend = gate.pass;
    const answered: string[] = [];
    const calls = ['a', 'b', 'c'].map((title) => createTask(ledger, title).then((id) => answered.push(id)));
    await expect.poll(gate.waiting).toBe(1);
    await settleTurns();
    expect(answered).toEqual([]);
    gate.open();
    await Promise.all(calls);
    expect(answered).toEqual(['1', '2', '3']);
  });

  test('refuses some commands of a commit and executes the others', async () => {
    const { ledger, journal, observedAnew } = await openTeam();
    const outcomes = await Promise.allSettled([
      createTask(ledger, 'one'),
      run(ledger, claim('ann', '99')),
      run(ledger, task('never'), claim('nobody')),
      createTask(ledger, 'two', { dependencies: ['1'] }),
      run(ledger, claim('bob', '2')),
      run(ledger, claim('bob', '1')),
    ]);
    expect(outcomes).toMatchObject([
      { value: '1' },
      { reason: { code: 'not_found' } },
      { reason: { code: 'not_found' } },
      { value: '2' },
      { reason: { code: 'blocked' } },
      { status: 'fulfilled' },
    ]);
    expect(journal.appends).toEqual([3]);
    expect(await observed(ledger)).toEqual(await observedAnew());
  });

  test('executes several commands as one step or not at all', async () => {
    const { ledger, journal } = await openTeam();
    await run(ledger, task('first'), task('second', { dependencies: ['1'] }), claim('ann', '1'), complete('ann', '1'));
    expect(journal.appends).toEqual([5]);
    const before = await observed(ledger);
    await expect(run(ledger, task('third'), claim('bob', '2'), claim('ann', '2'))).rejects.toMatchObject({
      code: 'claim_conflict',
    });
    expect(journal.appends).toEqual([5]);
    expect(await observed(ledger)).toEqual(before);
    expect(await createTask(ledger, 'third')).toBe('3');
  });

  test('gives each caller the events of its own commands, also if they share a commit', async () => {
    const { ledger, journal } = await openTeam();
    const types = (...commands: NewCommand[]) =>
      ledger.execute(TEAM, commands, (_state, events) => events.map(({ type }) => type));
    const made = 'task:created';
    expect(
      await Promise.all([
        types(task('one'), task('two')),
        types(task('three'), claim('ann', '1')),
        types(task('four')),
      ]),
    ).toEqual([[made, made], [made, 'task:claimed'], [made]]);
    expect(journal.appends).toEqual([5]);
  });

  test('takes the time of a command from its clock, unless the command says when', async () => {
    const { ledger } = await openTeam({ now: () => 1_000 });
    await run(ledger, task('one'), { ...task('two'), at: 500 });
    expect(
      await ledger.view(TEAM, ({ tasks }) => [...tasks.values()].map(({ createdAt }) => createdAt.getTime())),
    ).toEqual([1_000, 500]);
  });

  test('does the rest of several commands although the first was done before under its id', async () => {
    const { ledger } = await openTeam();
    const first = { ...task('one'), commandId: 'c1' };
    await run(ledger, first);
    await run(ledger, first, task('two'));
    expect(await ledger.view(TEAM, ({ tasks }) => [...tasks.values()].map(({ title }) => title))).toEqual([
      'one',
      'two',
    ]);
  });

  test('rolls back a command whose answer cannot be made', async () => {
    const { ledger, journal } = await openTeam();
    const call = ledger.execute(TEAM, task('one'), () => {
      throw new RangeError('no answer');
    });
    await expect(call).rejects.toThrow('no answer');
    expect(journal.appends).toEqual([]);
    expect(await createTask(ledger, 'one')).toBe('1');
  });

  test('shows no commit before it is stored', async () => {
    const { ledger, journal } = await openTeam();
    const gate = door();
    journal.beforeAppend = gate.pass;
    const call = createTask(ledger, 'one');
    await expect.poll(gate.waiting).toBe(1);
    let seen: number | undefined;
    const view = ledger.view(TEAM, (state) => state.tasks.size).then((size) => (seen = size));
    await settleTurns();
    expect(seen).not.toBe(1);
    gate.open();
    await call;
    expect(await view).toBe(1);
  });

  test('shows no commit that failed', async () => {
    const { ledger, journal } = await openTeam();
    const gate = door();
    journal.beforeAppend = () => gate.pass().then(FULL);
    const call = createTask(ledger, 'one');
    await expect.poll(gate.waiting).toBe(1);
    const views = Array.from({ length: 5 }, () => ledger.view(TEAM, (state) => state.tasks.size));
    gate.open();
    await expect(call).rejects.toMatchObject({ code: 'storage' });
    expect(await Promise.all(views)).toEqual([0, 0, 0, 0, 0]);
  });

  test('shows at every moment exactly what the journal holds', async () => {
    const { ledger, place } = await openTeam();
    const rival = openLedger(place.open());
    const views: Promise<{ seq: number; tasks: number; revisions: number }>[] = [];
    const look = (from: Ledger) =>
      views.push(
        from.view(TEAM, ({ tasks }, seq) => ({
          seq,
          tasks: tasks.size,
          revisions: tasks.values().reduce((sum, { revision }) => sum + revision, 0),
        })),
      );
    const workers = Array.from({ length: 12 }, async (_, worker) => {
      const mine = worker % 3 === 0 ? rival : ledger;
      for (let i = 0; i < 12; i++) {
        look(ledger);
        const id = await createTask(mine, `task ${i}`);
        look(rival);
        await run(mine, { type: 'task.update', by: 'lead', taskId: id, title: `task ${id}` });
      }
    });
    await Promise.all(workers);

    const truth = new Map([[0, { tasks: 0, revisions: 0 }]]);
    let tasks = 0;
    let revisions = 0;
    for await (const { seq, events } of place.open().read(TEAM, 0)) {
      for (const { type } of events) {
        if (type === 'task:created') tasks++;
        if (type.startsWith('task:')) revisions++;
      }
      truth.set(seq, { tasks, revisions });
    }
    expect(views).toHaveLength(288);
    for (const { seq, ...seen } of await Promise.all(views)) expect(seen).toEqual(truth.get(seq));
  });

  test('rolls back every kind of command when an append fails', async () => {
    const { ledger, journal, observedAnew } = await openTeam();
    await furnish(ledger);
    const before = await observed(ledger);
    journal.beforeAppend = FULL;
    const outcomes = await Promise.allSettled(EVERYTHING.map((command) => run(ledger, command)));
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && (outcome.reason as TeamError).code)).toEqual(
      EVERYTHING.map(() => 'storage'),
    );
    expect(await observed(ledger)).toEqual(before);
    expect(await observedAnew()).toEqual(before);

    journal.beforeAppend = () => {};
    for (const command of EVERYTHING) await run(ledger, command);
    expect(await observed(ledger)).toEqual(await observedAnew());
  });

  test('works again as soon as the disk does', async () => {
    const { ledger, journal, observedAnew } = await openTeam();
    for (let round = 1; round <= 3; round++) {
      journal.beforeAppend = FULL;
      for (let i = 0; i < 3; i++) {
        await expect(createTask(ledger, 'one')).rejects.toMatchObject({ code: 'storage' });
        expect(await ledger.view(TEAM, ({ tasks }) => tasks.size)).toBe(round - 1);
      }
      journal.beforeAppend = () => {};
      expect(await createTask(ledger, 'one')).toBe(String(round));
    }
    expect(await observed(ledger)).toEqual(await observedAnew());
  });

  test('executes a command once although it is retried after a lost answer', async () => {
    const { ledger, journal, observedAnew } = await openTeam();
    journal.afterAppend = FULL;
    const send = () => run(ledger, { ...task('one'), commandId: 'c1' });
    await expect(send()).rejects.toMatchObject({ code: 'storage' });
    journal.afterAppend = () => {};
    await send();
    await send();
    expect(await ledger.view(TEAM, ({ tasks }) => [...tasks.keys()])).toEqual(['1']);
    expect(await observed(ledger)).toEqual(await observedAnew());
  });

  test('refuses commands when its queue is full, and executes the queued ones', async () => {
    const { ledger, journal } = await openTeam({ queueLimit: 10 });
    const gate = door();
    journal.beforeAppend = gate.pass;
    const first = createTask(ledger, 'under way');
    await expect.poll(gate.waiting).toBe(1);
    const waiting = Array.from({ length: 10 }, () => createTask(ledger, 'waiting'));
    await expect(createTask(ledger, 'too much')).rejects.toMatchObject({ code: 'overloaded' });
    gate.open();
    expect(await Promise.all([first, ...waiting])).toHaveLength(11);
    expect(await createTask(ledger, 'later')).toBe('12');
  });

  test('refuses long texts when too much text waits, and accepts short ones and later ones', async () => {
    const { ledger, journal } = await openTeam();
    const gate = door();
    journal.beforeAppend = gate.pass;
    const first = createTask(ledger, 'first');
    await expect.poll(gate.waiting).toBe(1);
    const description = 'x'.repeat(64 * 1024);
    const calls = Array.from({ length: 1_000 }, () => createTask(ledger, 'long', { description }));
    const results = Promise.allSettled(calls);
    const short = createTask(ledger, 'short');
    gate.open();
    const refused = (await results).filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused.length).toBeGreaterThan(300);
    expect(refused.length).toBeLessThan(600);
    expect(refused[0]?.reason).toMatchObject({
      code: 'overloaded',
      message: expect.stringMatching(/MiB of text waiting/),
    });
    const made = 1_001 - refused.length;
    expect([await first, await short]).toEqual(['1', String(made + 1)]);
    expect(await createTask(ledger, 'later', { description })).toBe(String(made + 2));
  });

  test('bounds the text of one commit', async () => {
    const { ledger, journal } = await openTeam();
    const description = 'x'.repeat(60_000);
    await Promise.all(Array.from({ length: 20 }, () => createTask(ledger, 'long', { description })));
    expect(Math.max(...journal.appends)).toBeLessThanOrEqual(5);
  });

  test('finishes queued commands when it closes, and tells later callers that it is closed', async () => {
    const place = makePlace();
    const journal = watchedJournal(place.open());
    const ledger = new Ledger(journal);
    await createTeam(ledger);
    const gate = door();
    journal.beforeAppend = gate.pass;
    const calls = [createTask(ledger, 'under way')];
    await expect.poll(gate.waiting).toBe(1);
    calls.push(createTask(ledger, 'waiting'), createTask(ledger, 'waiting'));
    const closing = ledger.close();
    const closed = { reason: { code: 'storage', message: expect.stringContaining('ledger is closed') } };
    expect(
      await Promise.allSettled([createTask(ledger, 'late'), ledger.view(TEAM, () => 0), ledger.view('other', () => 0)]),
    ).toMatchObject([closed, closed, closed]);
    gate.open();
    expect(await Promise.all(calls)).toEqual(['1', '2', '3']);
    await closing;
    await ledger.close();
    const opened = journal.counts.opened;
    await expect(createTask(ledger, 'late')).rejects.toMatchObject({ code: 'storage' });
    expect(journal.counts.opened).toBe(opened);
  });

  test('finishes, on close, commands that waited for the team to open', async () => {
    const place = makePlace();
    await createTeam(openLedger(place.open()));
    const ledger = new Ledger(place.open());
    const call = createTask(ledger, 'early');
    await ledger.close();
    expect(await call).toBe('1');
  });

  test('unloads a closed team that is not used, and loads it again unchanged', async () => {
    const { ledger, journal, place } = await openTeam({ idleMs: 20, snapshotEvery: 4 });
    await createTeam(ledger, { name: 'open' });
    ledger.subscribe(() => {});
    await createTask(ledger, 'left undone');
    await run(ledger, { type: 'team.close', by: USER, force: true });
    const before = await observed(ledger);
    // Each team in memory follows its stream.
    await expect.poll(() => journal.counts.following).toBe(1);
    const { opened } = journal.counts;
    await ledger.view('open', () => undefined);
    expect(journal.counts.opened).toBe(opened);
    expect(await observed(ledger)).toEqual(before);
    expect(journal.counts.opened).toBe(opened + 1);
    await expect(createTask(ledger, 'one more')).rejects.toMatchObject({ code: 'team_closed' });
    expect(await place.open().loadSnapshot(TEAM)).toMatchObject({ seq: 3 });
  });

  test('keeps a closed team in memory while it is used', async () => {
    const { ledger, journal } = await openTeam({ idleMs: 100 });
    await run(ledger, { type: 'team.close', by: USER, force: true });
    const { opened } = journal.counts;
    const end = performance.now() + 350;
    while (performance.now() < end) await ledger.view(TEAM, () => new Promise(setImmediate));
    expect(journal.counts.opened).toBe(opened);
  });

  test('bounds the number of closed teams in memory', async () => {
    const { ledger, journal } = await openTeam({ openTeams: 3 });
    ledger.subscribe(() => {});
    const names = Array.from({ length: 12 }, (_, at) => `closed-${at}`);
    for (const name of names) {
      await createTeam(ledger, { name });
      await ledger.execute(name, { type: 'team.close', by: USER, force: true }, () => undefined);
    }
    const look = () => Promise.all(names.map((name) => ledger.view(name, (state) => state.team?.name)));
    expect(await look()).toEqual(names);
    expect(await look()).toEqual(names);
    await expect.poll(() => journal.counts.following).toBe(3);
    expect(await ledger.fromMemory(() => ledger.teams())).toHaveLength(3);
    await createTask(ledger, 'the open one works');
  });

  test('works although its listeners and its error handler throw', async () => {
    const { ledger } = await openTeam({
      onError() {
        throw new Error('trouble with trouble');
      },
    });
    const heard: string[] = [];
    onTestFinished(
      ledger.subscribe(() => {
        throw new Error('a bad listener');
      }),
    );
    onTestFinished(ledger.subscribe((_teamId, { events }) => void heard.push(...events.map(({ type }) => type))));
    expect(await createTask(ledger, 'one')).toBe('1');
    expect(await createTask(ledger, 'two')).toBe('2');
    expect(heard).toEqual(['task:created', 'task:created']);
  });

  test('returns the same batches from read and follow', async () => {
    const { ledger } = await openTeam();
    await createTask(ledger, 'one');
    const controller = new AbortController();
    const followed = ledger.follow(TEAM, 1, controller.signal)[Symbol.asyncIterator]();
    const first = await followed.next();
    const second = followed.next();
    await createTask(ledger, 'two');
    const read = await Array.fromAsync(ledger.read(TEAM, 1));
    expect([first.value, (await second).value]).toEqual(read);
    expect(read.map(({ seq, events }) => [seq, events.length])).toEqual([
      [2, 1],
      [3, 1],
    ]);
    controller.abort();
    expect((await followed.next()).done).toBe(true);
  });

  test('reports a listener that throws', async () => {
    const errors: unknown[] = [];
    const { ledger } = await openTeam({ onError: (error, teamId) => errors.push([teamId, String(error)]) });
    onTestFinished(
      ledger.subscribe(() => {
        throw new Error('a bad listener');
      }),
    );
    await createTask(ledger, 'one');
    expect(errors).toEqual([[TEAM, 'Error: a bad listener']]);
  });
});

/** Adds some of everything to the team. */
async function furnish(ledger: Ledger): Promise<void> {
  await run(
    ledger,
    join('cy', { planApprovalRequired: true }),
    task('a', { priority: 'high' }),
    task('b', { dependencies: ['1'] }),
    task('c', { dependencies: ['1', '2'], onDependencyFailure: 'proceed' }),
    task('d', { assigneeId: 'ann' }),
    task('e', { dependencies: ['4'], onDependencyFailure: 'fail' }),
    task('f'),
    claim('ann', '4'),
    claim('bob', '1'),
    message('lead', 'm1', { toId: 'ann', content: 'hello' }),
    { ...message('ann', 'm2', { toId: 'lead', content: 'hi' }), commandId: 'c1' },
    { type: 'plan.submit', by: 'cy', content: 'a plan' },
    { type: 'shutdown.request', by: 'lead', memberId: 'bob', reason: '' },
  );
}

/** One command of each kind that changes the team of `furnish`. */
const EVERYTHING = [
  { type: 'team.update', by: 'lead', description: 'new' },
  join('dan'),
  { type: 'member.change', by: 'bob', memberId: 'bob', status: 'idle', result: 'nothing' },
  { ...task('g', { dependencies: ['6'] }), commandId: 'c2' },
  { type: 'task.update', by: 'lead', taskId: '6', title: 'F', priority: 'critical', metadata: { a: 1 } },
  { type: 'task.assign', by: 'lead', taskId: '6', assigneeId: 'bob' },
  { type: 'task.addDependencies', by: 'lead', taskId: '6', dependencies: ['2'] },
  { type: 'task.removeDependencies', by: 'lead', taskId: '6', dependencies: ['2'] },
  { type: 'task.fail', by: 'ann', taskId: '4', reason: 'no luck' },
  complete('bob', '1', { result: 'done', epoch: 1 }),
  claim('bob'),
  claim('ann', '2'),
  { type: 'task.release', by: 'ann', taskId: '2' },
  { type: 'task.reopen', by: 'lead', taskId: '1' },
  { type: 'task.delete', by: 'lead', taskId: '1' },
  message('bob', 'm3', { toId: 'ann', content: 'hey' }),
  { type: 'message.broadcast', by: 'ann', messageId: 'b1', content: 'all', priority: 'urgent' },
  { type: 'message.deliver', by: 'ann', memberId: 'ann', messageIds: ['m1'], sessionId: 's1', redelivery: false },
  { type: 'message.acknowledge', by: 'ann', memberId: 'ann', messageIds: ['m1'] },
  { type: 'message.read', by: 'lead', memberId: 'lead', messageIds: ['m2'] },
  { type: 'plan.submit', by: 'cy', content: 'a better plan' },
  { type: 'shutdown.request', by: 'lead', memberId: 'ann', reason: 'enough' },
  {
    type: 'usage.record',
    by: 'ann',
    memberId: 'ann',
    taskId: '4',
    usage: {
      inputTokens: 1,
      outputTokens: 2,
      cacheReadTokens: 3,
      cacheWriteTokens: 4,
      turns: 1,
      costUsd: 0.5,
      estimated: true,
    },
  },
  leave('bob', { returning: true }),
  leave('ann'),
  { type: 'team.close', by: 'lead', force: true },
] as const satisfies readonly Parameters<typeof run>[1][];
