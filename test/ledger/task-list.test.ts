import { describe, expect, onTestFinished, test } from 'vitest';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import { ClaimConflictError, TeamError } from '../../src/core/errors.ts';
import { RESULT_BYTES } from '../../src/core/limits.ts';
import { JoinInput } from '../../src/core/member.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import { join, leave, run, TEAM } from './commands.ts';
import { observed } from './observed.ts';
import { openLedger, PLACES } from './places.ts';
import { listen, openTaskList } from './task-lists.ts';
import type { ListOptions } from './task-lists.ts';
import { door, settleTurns } from './watched-journal.ts';

describe.each(PLACES)('the shared task list on $name', ({ makePlace }) => {
  const openList = (options?: ListOptions) => openTaskList(makePlace(), options);

  test('has the methods of the first design, a claim without an id, a look at new tasks, and what ends them', () => {
    expect(Object.getOwnPropertyNames(SharedTaskList.prototype).sort()).toEqual([
      'claimNextTask',
      'claimTask',
      'close',
      'completeTask',
      'constructor',
      'createTask',
      'getClaimableTasksForTeammate',
      'getTask',
      'judgeNewTask',
      'listTasks',
      'stopWaiting',
      'updateTask',
    ]);
  });

  describe('creates', () => {
    test('a task with all its input, pending and at epoch 0', async () => {
      const { tasks, get } = await openList();
      const made = await tasks.createTask(TEAM, 'ann', {
        title: 'Write',
        description: 'a text',
        activeForm: 'Writing',
        priority: 'high',
        assigneeId: 'bob',
        metadata: { pages: 3 },
      });
      expect(made).toMatchObject({
        id: '1',
        teamId: TEAM,
        title: 'Write',
        description: 'a text',
        activeForm: 'Writing',
        status: 'pending',
        priority: 'high',
        assigneeId: 'bob',
        dependencies: [],
        createdBy: 'ann',
        epoch: 0,
        revision: 1,
        metadata: { pages: 3 },
      });
      expect(made.createdAt).toBeInstanceOf(Date);
      expect(made.updatedAt).toEqual(made.createdAt);
      expect(await get('1')).toEqual(made);
    });

    test('a blocked task if a dependency is open', async () => {
      const { create } = await openList();
      await create('first');
      expect(await create('second', { dependencies: ['1'] })).toMatchObject({
        status: 'blocked',
        blockedBy: ['1'],
        blockedReason: 'waits for task 1 (pending)',
      });
    });

    test('nothing if the input is wrong, and says what is wrong', async () => {
      const { create, tasks, journal } = await openList();
      const before = journal.appends.length;
      const wrong: [object, string][] = [
        [{ title: '' }, 'invalid'],
        [{ title: 'x', priority: 'soon' }, 'invalid'],
        [{ title: 'x', dependencies: ['no id'] }, 'invalid'],
        [{ title: 'x', extra: 1 }, 'invalid'],
        [{ title: 'x', dependencies: ['7'] }, 'not_found'],
        [{ title: 'x', assigneeId: 'zed' }, 'not_found'],
      ];
      for (const [input, code] of wrong) await expect(create('x', input)).rejects.toMatchObject({ code });
      await expect(tasks.createTask(TEAM, 'zed', { title: 'x' })).rejects.toMatchObject({ code: 'not_found' });
      expect(journal.appends).toHaveLength(before);
    });

    test('one task for one command id', async () => {
      const { tasks } = await openList();
      const send = () => tasks.createTask(TEAM, 'lead', { title: 'once' }, { commandId: 'c1' });
      const [first, second] = await Promise.all([send(), send()]);
      expect(second).toEqual(first);
      expect(await tasks.listTasks(TEAM)).toHaveLength(1);
    });
  });

  test('finds a task by id', async () => {
    const { tasks, create } = await openList();
    const made = await create('one');
    expect(await tasks.getTask(TEAM, '1')).toEqual(made);
    for (const id of ['2', 'x', '__proto__', '']) expect(await tasks.getTask(TEAM, id)).toBeUndefined();
    await expect(tasks.getTask('other', '1')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('lists tasks by status, assignee and priority', async () => {
    const { tasks, create } = await openList();
    await create('a', { priority: 'high' });
    await create('b', { dependencies: ['1'] });
    await create('c', { assigneeId: 'ann', priority: 'high' });
    await create('d');
    await tasks.claimTask(TEAM, '4', 'bob');
    await create('e');
    await tasks.updateTask(TEAM, '5', { status: 'deleted' });
    const ids = async (filter?: Parameters<SharedTaskList['listTasks']>[1]) =>
      (await tasks.listTasks(TEAM, filter)).map(({ id }) => id);
    const all = await ids();
    expect(await ids({ limit: 2 })).toEqual(all.slice(0, 2));
    expect(await ids({ after: all[1] as string, limit: 1 })).toEqual([all[2]]);
    expect(await ids()).toEqual(['1', '2', '3', '4']);
    expect(await ids({ status: 'pending' })).toEqual(['1', '3']);
    expect(await ids({ status: 'blocked' })).toEqual(['2']);
    expect(await ids({ status: ['in_progress', 'blocked'] })).toEqual(['2', '4']);
    expect(await ids({ status: 'deleted' })).toEqual(['5']);
    expect(await ids({ status: [] })).toEqual([]);
    expect(await ids({ assigneeId: 'ann' })).toEqual(['3']);
    expect(await ids({ priority: 'high' })).toEqual(['1', '3']);
    expect(await ids({ priority: 'high', assigneeId: 'ann', status: 'pending' })).toEqual(['3']);
    expect(await ids({ assigneeId: 'zed' })).toEqual([]);
  });

  describe('gives a task', () => {
    test('to one of 16 contenders; the others get a claim conflict', async () => {
      const { ledger, tasks, create } = await openList();
      const contenders = Array.from({ length: 16 }, (_, i) => `worker-${i}`);
      await run(ledger, ...contenders.map((name) => join(name)));
      await create('one');
      const outcomes = await Promise.allSettled(contenders.map((name) => tasks.claimTask(TEAM, '1', name)));
      const won = outcomes.filter((outcome) => outcome.status === 'fulfilled');
      expect(won).toHaveLength(1);
      expect(won[0]?.value).toMatchObject({ status: 'in_progress', epoch: 1 });
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(ClaimConflictError);
      }
    });

    test('only if it is ready and not reserved for another member', async () => {
      const { tasks, create } = await openList();
      await create('one', { assigneeId: 'ann' });
      await create('two', { dependencies: ['1'] });
      await expect(tasks.claimTask(TEAM, '1', 'bob')).rejects.toBeInstanceOf(ClaimConflictError);
      await expect(tasks.claimTask(TEAM, '2', 'bob')).rejects.toMatchObject({ code: 'blocked' });
      await expect(tasks.claimTask(TEAM, '3', 'bob')).rejects.toMatchObject({ code: 'not_found' });
      expect(await tasks.claimTask(TEAM, '1', 'ann')).toMatchObject({ assigneeId: 'ann' });
    });

    test('that is ready: first one reserved for the caller, then by priority, then by age', async () => {
      const { tasks, create } = await openList();
      await create('a', { priority: 'low' });
      await create('b');
      await create('c', { priority: 'critical' });
      await create('d', { priority: 'low', assigneeId: 'ann' });
      await create('e', { dependencies: ['2'], priority: 'critical' });
      await create('f');
      await create('g', { assigneeId: 'bob', priority: 'critical' });
      const expected = ['4', '3', '2', '6', '1'];
      const claimable = await tasks.getClaimableTasksForTeammate(TEAM, 'ann');
      expect(claimable.map(({ id }) => id)).toEqual(expected);
      const claimed: (string | undefined)[] = [];
      for (let i = 0; i < 6; i++) claimed.push((await tasks.claimNextTask(TEAM, 'ann'))?.id);
      expect(claimed).toEqual([...expected, undefined]);
      expect(await tasks.getClaimableTasksForTeammate(TEAM, 'ann')).toEqual([]);
    });

    test('once for one command id', async () => {
      const { tasks, create } = await openList();
      await create('one');
      await create('two');
      const first = await tasks.claimNextTask(TEAM, 'ann', { commandId: 'c1' });
      expect(await tasks.claimNextTask(TEAM, 'ann', { commandId: 'c1' })).toEqual(first);
      expect(await tasks.claimNextTask(TEAM, 'ann', { commandId: 'c2' })).toMatchObject({ id: '2' });
      await expect(tasks.claimNextTask(TEAM, 'bob', { commandId: 'c2' })).rejects.toMatchObject({ code: 'conflict' });
    });

    test('to no unknown or stopped member', async () => {
      const { ledger, tasks, create } = await openList();
      await create('one');
      await run(ledger, leave('bob'));
      await expect(tasks.claimNextTask(TEAM, 'bob')).rejects.toMatchObject({ code: 'member_stopped' });
      await expect(tasks.claimNextTask(TEAM, 'zed')).rejects.toMatchObject({ code: 'not_found' });
      await expect(tasks.getClaimableTasksForTeammate(TEAM, 'zed')).rejects.toMatchObject({ code: 'not_found' });
    });
  });

  describe('completes', () => {
    test('without a gate and without looking at the team first', async () => {
      const { ledger, journal, tasks, create } = await openList();
      const robot = JoinInput.parse({ name: 'robot', agent: { kind: 'exec', command: ['true'] } });
      await ledger.execute(TEAM, { type: 'member.join', by: USER, ...robot }, () => undefined);
      await create('one');
      await tasks.claimTask(TEAM, '1', 'robot');
      journal.counts.batchesRead = 0;
      expect(await tasks.completeTask(TEAM, '1', 'robot')).toMatchObject({ status: 'completed' });
      expect(journal.counts.batchesRead).toBe(0);
    });

    test('a task with its result, and unblocks tasks without another open dependency', async () => {
      const { tasks, create, get } = await openList();
      await create('one');
      await create('two', { dependencies: ['1'] });
      await create('three', { dependencies: ['1', '2'] });
      await tasks.claimTask(TEAM, '1', 'ann');
      const heard = listen(tasks);
      const done = await tasks.completeTask(TEAM, '1', 'ann', { result: 'good', epoch: 1 });
      expect(done).toMatchObject({ status: 'completed', result: 'good', assigneeId: 'ann' });
      expect(done.completedAt).toBeInstanceOf(Date);
      expect(await get('2')).toMatchObject({ status: 'pending' });
      expect(await get('3')).toMatchObject({ status: 'blocked', blockedBy: ['2'] });
      expect(heard).toEqual(['task:completed 1 completed', 'task:unblocked 2 pending']);
    });

    test('nothing for a member that lost the task (invariant 2)', async () => {
      const { ledger, tasks, create } = await openList();
      await create('one');
      const { epoch } = await tasks.claimTask(TEAM, '1', 'ann');
      await run(ledger, { type: 'task.release', by: 'lead', taskId: '1' });
      await tasks.claimTask(TEAM, '1', 'ann');
      const before = await observed(ledger);
      await expect(tasks.completeTask(TEAM, '1', 'ann', { epoch })).rejects.toMatchObject({ code: 'stale_epoch' });
      await expect(tasks.completeTask(TEAM, '1', 'bob')).rejects.toMatchObject({ code: 'not_allowed' });
      expect(await observed(ledger)).toEqual(before);
    });

    test('nothing with a result over the limit', async () => {
      const { ledger, tasks, create } = await openList();
      await create('one');
      await tasks.claimTask(TEAM, '1', 'ann');
      const before = await observed(ledger);
      const result = 'x'.repeat(RESULT_BYTES + 1);
      await expect(tasks.completeTask(TEAM, '1', 'ann', { result })).rejects.toMatchObject({ code: 'invalid' });
      expect(await observed(ledger)).toEqual(before);
    });
  });

  describe('updates', () => {
    test('only the given fields', async () => {
      const { tasks, create } = await openList();
      await create('one', { description: 'long', metadata: { a: 1, b: 2 } });
      const updated = await tasks.updateTask(TEAM, '1', { title: 'ONE', priority: 'low', metadata: { a: null, c: 3 } });
      expect(updated).toMatchObject({ title: 'ONE', description: 'long', priority: 'low', revision: 2 });
      expect(updated.metadata).toEqual({ b: 2, c: 3 });
    });

    test('once per command id, even after other updates, and refuses another update under that id', async () => {
      const { tasks, create, ledger } = await openList();
      await create('one');
      const rename = () => tasks.updateTask(TEAM, '1', { title: 'ONE', revision: 1 }, 'lead', { commandId: 'c1' });
      expect(await rename()).toMatchObject({ title: 'ONE', revision: 2 });
      // A retry after a lost answer succeeds although its revision is outdated: the update was done.
      expect(await rename()).toMatchObject({ title: 'ONE', revision: 2 });
      await tasks.updateTask(TEAM, '1', { title: 'uno' }, 'ann');
      expect(await rename()).toMatchObject({ title: 'uno', revision: 3 });
      const other = { title: 'another' };
      await expect(tasks.updateTask(TEAM, '1', other, 'lead', { commandId: 'c1' })).rejects.toMatchObject({
        code: 'conflict',
      });
      await expect(tasks.updateTask(TEAM, '1', { title: 'ONE' }, 'ann', { commandId: 'c1' })).rejects.toMatchObject({
        code: 'conflict',
      });
      expect(await ledger.view(TEAM, (state) => state.tasks.get('1')?.title)).toBe('uno');
    });

    test('once per command id, even if it takes several steps and the first changes nothing', async () => {
      const { tasks, create } = await openList();
      for (const title of ['one', 'two']) await create(title);
      await tasks.updateTask(TEAM, '2', { addDependencies: ['1'] });
      const input = { addDependents: ['2'], title: 'ONE', assigneeId: 'ann', status: 'completed' as const };
      const update = () => tasks.updateTask(TEAM, '1', input, 'lead', { commandId: 'c1' });
      const done = await update();
      expect(done).toMatchObject({ title: 'ONE', status: 'completed', assigneeId: 'ann' });
      expect(await update()).toEqual(done);
      await tasks.updateTask(TEAM, '1', { status: 'pending', title: 'again' });
      const reopened = await tasks.getTask(TEAM, '1');
      expect(await update()).toEqual(reopened);
      expect(reopened).toMatchObject({ title: 'again', status: 'pending' });
    });

    test('once if the same command is sent five times in parallel', async () => {
      const { tasks, create, ledger } = await openList();
      await create('one');
      const before = await ledger.view(TEAM, (_state, seq) => seq);
      const input = { title: 'ONE', assigneeId: 'bob', metadata: { a: 1 } };
      await Promise.all(
        Array.from({ length: 5 }, () => tasks.updateTask(TEAM, '1', input, 'lead', { commandId: 'c1' })),
      );
      const events = (await Array.fromAsync(ledger.read(TEAM, before))).flatMap((batch) => batch.events);
      expect(events.map(({ type }) => type)).toEqual(['task:updated', 'task:assigned']);
    });

    test.each<[string, object, object]>([
      [
        'to in progress by claiming it',
        { status: 'in_progress' },
        { status: 'in_progress', assigneeId: 'ann', epoch: 1 },
      ],
      ['to failed', { status: 'failed' }, { status: 'failed', failure: 'marked as failed by lead' }],
      ['to completed', { status: 'completed', title: 'done' }, { status: 'completed', title: 'done' }],
      ['to deleted', { status: 'deleted' }, { status: 'deleted', epoch: 1 }],
      ['to pending, which it is', { status: 'pending' }, { status: 'pending', revision: 1 }],
      ['by reserving it', { assigneeId: 'bob' }, { status: 'pending', assigneeId: 'bob', reserved: true }],
    ])('a pending task %s', async (_how, input, expected) => {
      const { tasks, create } = await openList();
      await create('one');
      const by = 'status' in input && input.status === 'in_progress' ? 'ann' : 'lead';
      expect(await tasks.updateTask(TEAM, '1', input, by)).toMatchObject(expected);
    });

    test.each<[string, object, object]>([
      ['back to pending', { status: 'pending' }, { status: 'pending', epoch: 2, assigneeId: undefined }],
      ['by giving it to another', { assigneeId: 'bob' }, { status: 'pending', epoch: 2, assigneeId: 'bob' }],
      [
        'by giving it to another as pending',
        { assigneeId: 'bob', status: 'pending' },
        { status: 'pending', epoch: 2, assigneeId: 'bob', reserved: true },
      ],
      [
        'by taking it from its holder as pending',
        { assigneeId: null, status: 'pending' },
        { status: 'pending', epoch: 2, assigneeId: undefined, reserved: false },
      ],
      [
        'back to pending, reserved for its holder',
        { assigneeId: 'ann', status: 'pending' },
        { status: 'pending', epoch: 2, assigneeId: 'ann', reserved: true },
      ],
      ['to completed', { status: 'completed', epoch: 1 }, { status: 'completed', assigneeId: 'ann', epoch: 1 }],
    ])('a held task %s', async (_how, input, expected) => {
      const { tasks, create } = await openList();
      await create('one');
      await tasks.claimTask(TEAM, '1', 'ann');
      expect(await tasks.updateTask(TEAM, '1', input, 'lead')).toMatchObject(expected);
    });

    test.each(['completed', 'failed', 'deleted'] as const)(
      'a %s task back to pending with changes, in one step',
      async (status) => {
        const { journal, tasks, create } = await openList();
        await create('one');
        await tasks.updateTask(TEAM, '1', { status });
        journal.appends.length = 0;
        const again = { status: 'pending', title: 'again', assigneeId: 'bob' } as const;
        expect(await tasks.updateTask(TEAM, '1', again)).toMatchObject({ ...again, reserved: true });
        expect(journal.appends).toEqual([3]);
      },
    );

    test('nothing if a task that waits for another is set to pending, which it is', async () => {
      const { tasks, create } = await openList();
      await create('one');
      const waiting = await create('two', { dependencies: ['1'] });
      expect(await tasks.updateTask(TEAM, '2', { status: 'pending' })).toEqual(waiting);
    });

    test('nothing if one of its steps is refused', async () => {
      const { ledger, tasks, create } = await openList();
      await create('one');
      await create('two', { dependencies: ['1'] });
      await tasks.claimTask(TEAM, '1', 'ann');
      const before = await observed(ledger);
      const refused: [string, object, string, string][] = [
        ['1', { title: 'mine', status: 'completed' }, 'bob', 'not_allowed'],
        ['1', { title: 'mine', status: 'in_progress' }, 'bob', 'claim_conflict'],
        ['2', { title: 'mine', status: 'in_progress', assigneeId: 'bob' }, 'bob', 'blocked'],
        ['1', { title: 'mine', assigneeId: 'bob' }, 'bob', 'not_allowed'],
        ['2', { title: 'mine', assigneeId: 'zed' }, 'lead', 'not_found'],
        ['1', { title: 'mine', status: 'deleted' }, 'bob', 'not_allowed'],
        ['1', { title: 'mine', status: 'blocked' }, 'lead', 'invalid'],
        ['9', { title: 'mine' }, 'lead', 'not_found'],
        ['1', { title: '' }, 'lead', 'invalid'],
        ['1', { titel: 'mine' }, 'lead', 'invalid'],
      ];
      for (const [id, input, by, code] of refused) {
        await expect(tasks.updateTask(TEAM, id, input, by)).rejects.toMatchObject({ code });
      }
      expect(await observed(ledger)).toEqual(before);
    });

    test('nothing if the caller names an older revision or epoch', async () => {
      const { ledger, tasks, create } = await openList();
      await create('one');
      await tasks.claimTask(TEAM, '1', 'ann');
      const before = await observed(ledger);
      const inputs = [
        { title: 'new' },
        { status: 'completed' },
        { status: 'pending' },
        { assigneeId: 'bob' },
        {},
      ] as const;
      for (const input of inputs) {
        await expect(tasks.updateTask(TEAM, '1', { ...input, revision: 1 })).rejects.toMatchObject({
          code: 'stale_revision',
        });
        await expect(tasks.updateTask(TEAM, '1', { ...input, epoch: 0 })).rejects.toMatchObject({
          code: 'stale_epoch',
        });
      }
      expect(await observed(ledger)).toEqual(before);
    });

    test('by the revision of the task alone, not of those that it makes wait', async () => {
      const { tasks, create } = await openList();
      const { revision } = await create('one');
      await create('two');
      await tasks.updateTask(TEAM, '2', { title: 'TWO' });
      const update = { addDependents: ['2'], title: 'ONE', revision };
      expect(await tasks.updateTask(TEAM, '1', update)).toMatchObject({ title: 'ONE', blocks: ['2'] });
      await expect(tasks.updateTask(TEAM, '1', { title: 'uno', revision })).rejects.toMatchObject({
        code: 'stale_revision',
      });
    });

    test('for only one of several callers that name the same revision', async () => {
      const { tasks, create } = await openList();
      const { revision } = await create('one');
      const outcomes = await Promise.allSettled(
        ['a', 'b', 'c'].map((title) => tasks.updateTask(TEAM, '1', { title, status: 'completed', revision })),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    test('a held task to in_progress and a new title, for a person or its holder', async () => {
      const { tasks, create } = await openList();
      await create('one');
      await tasks.claimTask(TEAM, '1', 'ann');
      expect(await tasks.updateTask(TEAM, '1', { title: 'a', status: 'in_progress' })).toMatchObject({ title: 'a' });
      expect(await tasks.updateTask(TEAM, '1', { title: 'b', status: 'in_progress' }, 'ann')).toMatchObject({
        epoch: 1,
      });
      expect(await tasks.updateTask(TEAM, '1', { title: 'c', status: 'in_progress' }, SYSTEM)).toMatchObject({
        epoch: 1,
      });
      await expect(tasks.updateTask(TEAM, '1', { status: 'in_progress' }, 'bob')).rejects.toBeInstanceOf(
        ClaimConflictError,
      );
    });

    test('a free task to in progress by a member that names itself', async () => {
      const { journal, tasks, create } = await openList();
      await create('one');
      await create('two', { assigneeId: 'ann' });
      const start = { status: 'in_progress', assigneeId: 'ann' } as const;
      expect(await tasks.updateTask(TEAM, '1', start, 'ann')).toMatchObject({ ...start, epoch: 1 });
      // Nothing but the claim.
      expect(journal.appends.at(-1)).toBe(1);
      expect(await tasks.updateTask(TEAM, '2', { status: 'in_progress' }, 'ann')).toMatchObject({ ...start, epoch: 1 });
    });
  });

  describe('starts a task for a member chosen by a manager', () => {
    test.each(['@user', 'lead'] as const)('as %s, whether it is free, reserved or held', async (by) => {
      const { tasks, create } = await openList();
      await create('free');
      await create('reserved for her', { assigneeId: 'ann' });
      await create('reserved for another', { assigneeId: 'bob' });
      await create('held by another');
      await tasks.claimTask(TEAM, '4', 'bob');
      const heard = listen(tasks);
      for (const id of ['1', '2', '3', '4']) {
        const start = { status: 'in_progress', assigneeId: 'ann' } as const;
        const started = await (by === '@user'
          ? tasks.updateTask(TEAM, id, start)
          : tasks.updateTask(TEAM, id, start, by));
        expect(started).toMatchObject(start);
        // A repetition changes nothing.
        expect(await tasks.updateTask(TEAM, id, start, by)).toEqual(started);
        expect(heard.filter((one) => one === `task:claimed ${id} in_progress`)).toHaveLength(1);
        expect(heard).toContain(`task:updated ${id} in_progress`);
      }
      await expect(tasks.completeTask(TEAM, '4', 'bob')).rejects.toMatchObject({ code: 'not_allowed' });
    });

    test('and refuses blocked tasks, unknown members, and callers that are not managers', async () => {
      const { ledger, tasks, create } = await openList();
      await create('first');
      await create('second', { dependencies: ['1'] });
      const before = await observed(ledger);
      const start = (id: string, assigneeId: string, by: string) =>
        tasks.updateTask(TEAM, id, { status: 'in_progress', assigneeId }, by);
      await expect(start('2', 'ann', 'lead')).rejects.toMatchObject({ code: 'blocked' });
      await expect(start('1', 'zed', '@user')).rejects.toMatchObject({ code: 'not_found' });
      await expect(start('1', 'ann', 'bob')).rejects.toMatchObject({ code: 'not_allowed' });
      expect(await observed(ledger)).toEqual(before);
    });

    test('but only reserves it for a member that Troupe runs, which claims it itself', async () => {
      const { ledger, tasks, create } = await openList();
      const robot = JoinInput.parse({ name: 'robot', agent: { kind: 'exec', command: ['true'] } });
      await ledger.execute(TEAM, { type: 'member.join', by: '@user', ...robot }, () => undefined);
      await create('one');
      const given = await tasks.updateTask(TEAM, '1', { status: 'in_progress', assigneeId: 'robot' });
      expect(given).toMatchObject({ status: 'pending', reserved: true, assigneeId: 'robot' });
    });
  });

  describe('emits', () => {
    test('each change once, after it is durable', async () => {
      const { journal, tasks, create } = await openList();
      const heard = listen(tasks);
      const gate = door();
      journal.afterAppend = gate.pass;
      const creating = create('one');
      await expect.poll(gate.waiting).toBe(1);
      await settleTurns();
      expect(heard).toEqual([]);
      gate.open();
      await creating;
      await tasks.claimTask(TEAM, '1', 'ann');
      await tasks.updateTask(TEAM, '1', { title: 'two' });
      await tasks.updateTask(TEAM, '1', { status: 'pending' });
      await tasks.updateTask(TEAM, '1', { status: 'failed' });
      await tasks.updateTask(TEAM, '1', { status: 'pending' });
      await tasks.updateTask(TEAM, '1', { status: 'deleted' });
      expect(heard).toEqual([
        'task:created 1 pending',
        'task:claimed 1 in_progress',
        'task:updated 1 in_progress',
        // An update that changes the status emits that change, and an update.
        'task:released 1 pending',
        'task:updated 1 pending',
        'task:failed 1 failed',
        'task:updated 1 failed',
        'task:updated 1 pending',
        'task:updated 1 deleted',
      ]);
    });

    test('an update that completes a task for that task, not for those that wait for it', async () => {
      const { tasks, create } = await openList();
      await create('one');
      await create('two', { dependencies: ['1'] });
      const heard = listen(tasks);
      await tasks.updateTask(TEAM, '1', { status: 'completed' });
      await tasks.updateTask(TEAM, '1', { title: 'ONE', status: 'pending' });
      expect(heard).toEqual([
        'task:completed 1 completed',
        'task:updated 1 completed',
        'task:unblocked 2 pending',
        'task:updated 1 pending',
        'task:updated 1 pending',
      ]);
    });

    test('nothing for a refused or failed call', async () => {
      const { journal, tasks, create } = await openList();
      await create('one');
      const heard = listen(tasks);
      await expect(tasks.claimTask(TEAM, '9', 'ann')).rejects.toThrow();
      journal.beforeAppend = () => {
        throw new TeamError('storage', 'The disk is full.');
      };
      await expect(tasks.claimTask(TEAM, '1', 'ann')).rejects.toThrow();
      await settleTurns();
      expect(heard).toEqual([]);
    });

    test('only what was asked for, and nothing about members and requests', async () => {
      const { ledger, tasks, create, errors } = await openList();
      const heard: string[] = [];
      tasks.on('task:created', ({ id }) => void heard.push(id));
      await create('one');
      await tasks.claimTask(TEAM, '1', 'ann');
      const about = { memberId: 'ann', kind: 'question', taskId: '1', content: 'Which?' } as const;
      await run(ledger, join('cyd'), { type: 'request.raise', by: 'ann', ...about });
      expect(heard).toEqual(['1']);
      expect(errors).toEqual([]);
    });

    test('changes of another ledger, once', async () => {
      const { place, tasks, create } = await openList();
      const other = new SharedTaskList(openLedger(place.open()));
      onTestFinished(() => other.close());
      const heard = listen(tasks);
      await create('one');
      await other.claimTask(TEAM, '1', 'bob');
      await expect.poll(() => heard).toEqual(['task:created 1 pending', 'task:claimed 1 in_progress']);
      await settleTurns();
      expect(heard).toHaveLength(2);
    });

    test('the rest of a commit although a listener throws', async () => {
      const { tasks, create, errors } = await openList();
      await create('one');
      await create('two', { dependencies: ['1'] });
      const heard: string[] = [];
      tasks.on('task:completed', () => {
        throw new Error('a bad listener');
      });
      tasks.on('task:unblocked', ({ id }) => heard.push(id));
      await tasks.updateTask(TEAM, '1', { status: 'completed' });
      expect(heard).toEqual(['2']);
      expect(errors).toMatchObject([{ message: 'a bad listener' }]);
    });

    test('nothing after close', async () => {
      const { ledger, tasks, create } = await openList();
      const heard = listen(tasks);
      tasks.close();
      const late = listen(tasks);
      await create('one');
      expect([...heard, ...late]).toEqual([]);
      tasks.close();
      expect(tasks.eventNames()).toEqual([]);
      expect(await ledger.view(TEAM, (state) => state.tasks.size)).toBe(1);
    });
  });
});
