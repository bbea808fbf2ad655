import { describe, expect, onTestFinished, test } from 'vitest';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import { TeamError } from '../../src/core/errors.ts';
import type { TaskCompletedHookContext, TaskCreatedHookContext } from '../../src/core/hook.ts';
import { wordGate } from '../../src/core/request-words.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import { judgesCompletions } from '../../src/ledger/task-gate.ts';
import type { TaskGate } from '../../src/ledger/task-gate.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import { join, leave, run, TEAM } from './commands.ts';
import { observed } from './observed.ts';
import { PLACES } from './places.ts';
import { listen, openTaskList, verdict } from './task-lists.ts';
import type { ListOptions } from './task-lists.ts';
import { door } from './watched-journal.ts';

describe.each(PLACES)('the gate of the shared task list on $name', ({ makePlace }) => {
  const openList = (options?: ListOptions) => openTaskList(makePlace(), options);

  describe('asks the gate', () => {
    test('with all that it needs to judge', async () => {
      const contexts: TaskCompletedHookContext[] = [];
      let now = 1_000;
      const { tasks, create } = await openList({
        gate(context) {
          contexts.push(context);
          return verdict(0);
        },
        now: () => now,
      });
      await create('Write');
      await create('Read', { dependencies: ['1'] });
      await create('Burn', { dependencies: ['1'] });
      await tasks.updateTask(TEAM, '3', { status: 'deleted' });
      await tasks.claimTask(TEAM, '1', 'ann');
      now += 250;
      await tasks.completeTask(TEAM, '1', 'ann');
      expect(contexts).toMatchObject([
        {
          teamId: TEAM,
          taskId: '1',
          taskTitle: 'Write',
          completedBy: 'ann',
          memberName: 'ann',
          dependentTaskIds: ['2'],
          duration: 250,
        },
      ]);
      // The clock went back, or nobody worked on it.
      await tasks.claimTask(TEAM, '2', 'ann');
      now -= 100;
      await tasks.completeTask(TEAM, '2', 'ann');
      await create('Sing');
      await tasks.completeTask(TEAM, '4', 'lead');
      expect(contexts.map(({ duration }) => duration)).toEqual([250, 0, 0]);
    });

    test.each([
      ['stderr and stdout', { stderr: ' tests fail\n', stdout: 'log' }, 'tests fail\n\nlog'],
      ['stdout where stderr is empty', { stdout: 'tests fail\n' }, 'tests fail'],
      ['a sentence of its own where both are', {}, 'The gate rejected task 1'],
    ])('and a rejection leaves the task with its holder and carries %s', async (_where, output, feedback) => {
      const { tasks, create, get } = await openList({ gate: () => verdict(2, output) });
      await create('one');
      const { epoch } = await tasks.claimTask(TEAM, '1', 'ann');
      const heard = listen(tasks);
      const rejected = { code: 'gate_rejected', message: feedback };
      await expect(tasks.completeTask(TEAM, '1', 'ann')).rejects.toMatchObject(rejected);
      const sentBack = { title: 'one', status: 'in_progress', assigneeId: 'ann', epoch, feedback };
      expect(await get('1')).toMatchObject({ ...sentBack, rejections: 1 });
      const update = { title: 'new', status: 'completed' } as const;
      await expect(tasks.updateTask(TEAM, '1', update, 'ann')).rejects.toMatchObject(rejected);
      expect(await get('1')).toMatchObject({ ...sentBack, rejections: 2 });
      expect(heard).toEqual(['task:updated 1 in_progress', 'task:updated 1 in_progress']);
    });

    test('and a rejection of a task without a holder changes nothing', async () => {
      const { ledger, tasks, create } = await openList({ gate: () => verdict(2) });
      await create('one');
      const before = await observed(ledger);
      await expect(tasks.completeTask(TEAM, '1', 'lead')).rejects.toMatchObject({ code: 'gate_rejected' });
      expect(await observed(ledger)).toEqual(before);
    });

    test('and a rejection counts only if the task has not changed since', async () => {
      const gate = door();
      const { tasks, create, get } = await openList({ gate: () => gate.pass().then(() => verdict(2)) });
      await create('one');
      await tasks.claimTask(TEAM, '1', 'ann');
      const completion = tasks.completeTask(TEAM, '1', 'ann');
      await expect.poll(gate.waiting).toBe(1);
      await tasks.updateTask(TEAM, '1', { title: 'changed' });
      gate.open();
      await expect(completion).rejects.toMatchObject({ code: 'stale_revision' });
      expect(await get('1')).toMatchObject({ title: 'changed', rejections: 0 });
    });

    test('about a new task, and deletes the task if the gate rejects it', async () => {
      const contexts: TaskCreatedHookContext[] = [];
      const { tasks, create } = await openList({
        creationGate(context) {
          contexts.push(context);
          return context.taskTitle === 'good' ? verdict(0) : verdict(2, { stderr: 'say what for' });
        },
      });
      expect(await create('good')).toMatchObject({ id: '1', status: 'pending' });
      await expect(create('bad')).rejects.toMatchObject({ code: 'gate_rejected', message: 'say what for' });
      expect(await tasks.listTasks(TEAM)).toMatchObject([{ title: 'good' }]);
      expect(contexts).toEqual([
        { teamId: TEAM, taskId: '1', taskTitle: 'good', createdBy: 'lead' },
        { teamId: TEAM, taskId: '2', taskTitle: 'bad', createdBy: 'lead' },
      ]);
    });

    test('about a new task, which cannot be claimed before the verdict', async () => {
      const gate = door();
      const { ledger, tasks, create, get } = await openList({ creationGate: () => gate.pass().then(() => verdict(0)) });
      const creation = create('one', { priority: 'critical' });
      await expect.poll(gate.waiting).toBe(1);
      expect(await tasks.claimNextTask(TEAM, 'ann')).toBeUndefined();
      await expect(tasks.claimTask(TEAM, '1', 'ann')).rejects.toMatchObject({
        code: 'blocked',
        message: 'Task 1 waits for the hooks that judge new tasks',
      });
      await expect(tasks.updateTask(TEAM, '1', { status: 'in_progress' }, 'ann')).rejects.toMatchObject({
        code: 'blocked',
      });
      expect(await get('1')).toMatchObject({ status: 'blocked', unjudged: true, blockedBy: [] });
      expect(await tasks.getClaimableTasksForTeammate(TEAM, 'ann')).toEqual([]);
      const forged = { type: 'task.update', by: 'lead', taskId: '1', unjudged: false } as const;
      await expect(run(ledger, forged)).rejects.toMatchObject({ code: 'not_allowed' });
      gate.open();
      expect(await creation).toMatchObject({ id: '1', status: 'pending', unjudged: false });
      expect(await tasks.claimNextTask(TEAM, 'ann')).toMatchObject({ id: '1', assigneeId: 'ann' });
    });

    test('about a new task once, even if the creation is retried', async () => {
      let asked = 0;
      const { tasks } = await openList({
        creationGate: ({ taskTitle }) => verdict(++asked > 0 && taskTitle === 'bad' ? 2 : 0),
      });
      const make = (title: string) => tasks.createTask(TEAM, 'lead', { title }, { commandId: title });
      for (let times = 0; times < 2; times++) {
        expect(await make('good')).toMatchObject({ id: '1', status: 'pending' });
        await expect(make('bad')).rejects.toMatchObject({
          code: 'gate_rejected',
          message: 'A hook rejected the task "bad"',
        });
      }
      expect(asked).toBe(2);
    });

    test('once about a call that is repeated while its gate runs', async () => {
      const asked: string[] = [];
      const releases: (() => void)[] = [];
      let rejects = false;
      const judge = async (what: string) => {
        asked.push(what);
        await new Promise<void>((resolve) => void releases.push(resolve));
        return verdict(rejects ? 2 : 0);
      };
      const { ledger, tasks, get } = await openList({ creationGate: () => judge('new'), gate: () => judge('done') });
      const twice = async <R>(call: () => Promise<R>): Promise<PromiseSettledResult<R>[]> => {
        const before = asked.length;
        const first = call();
        await expect.poll(() => asked.length).toBe(before + 1);
        const both = Promise.allSettled([first, call()]);
        // By now the second call would have asked too.
        await run(ledger, join(`m${before}`));
        for (const release of releases) release();
        return both;
      };
      const made = { status: 'fulfilled', value: { id: '1', status: 'pending' } };
      const create = () => tasks.createTask(TEAM, 'lead', { title: 'one' }, { commandId: 'c1' });
      expect(await twice(create)).toMatchObject([made, made]);
      await tasks.claimTask(TEAM, '1', 'ann');
      rejects = true;
      const rejected = { status: 'rejected', reason: { code: 'gate_rejected' } };
      const complete = () => tasks.completeTask(TEAM, '1', 'ann', { commandId: 'c2' });
      expect(await twice(complete)).toMatchObject([rejected, rejected]);
      const update = () => tasks.updateTask(TEAM, '1', { status: 'completed' }, 'ann', { commandId: 'c3' });
      expect(await twice(update)).toMatchObject([rejected, rejected]);
      expect(await get('1')).toMatchObject({ rejections: 2 });
      rejects = false;
      const done = { status: 'fulfilled', value: { id: '1', status: 'completed' } };
      expect(await twice(() => tasks.completeTask(TEAM, '1', 'ann', { commandId: 'c4' }))).toMatchObject([done, done]);
      expect(asked).toEqual(['new', 'done', 'done', 'done']);
    });

    test('about a new task, and a second verdict changes nothing', async () => {
      const place = makePlace();
      const gate = door();
      const slow = await openTaskList(place, { creationGate: () => gate.pass().then(() => verdict(2)) });
      const creation = slow.create('one');
      await expect.poll(gate.waiting).toBe(1);
      // Another daemon judged it meanwhile, and a member works on it.
      await run(slow.ledger, { type: 'task.update', by: SYSTEM, taskId: '1', unjudged: false });
      await slow.tasks.claimTask(TEAM, '1', 'ann');
      gate.open();
      expect(await creation).toMatchObject({ id: '1', status: 'in_progress', assigneeId: 'ann' });
    });

    test('and a gate that throws lets a new task pass', async () => {
      const { tasks, create } = await openList({
        creationGate() {
          throw new Error('no such program');
        },
      });
      await expect(create('one')).rejects.toThrow('no such program');
      expect(await tasks.claimNextTask(TEAM, 'ann')).toMatchObject({ id: '1' });
    });

    test.each([
      ['what it printed', { stderr: 'no python' }, 'no python'],
      ['why', {}, 'it cannot start'],
    ])('about a new task, and deletes the task with %s if the gate cannot run', async (_, output, message) => {
      const { create, get } = await openList({
        creationGate: () => verdict(2, { unable: 'it cannot start', ...output }),
      });
      await expect(create('one')).rejects.toMatchObject({ code: 'gate_rejected', message });
      expect(await get('1')).toMatchObject({ status: 'deleted' });
    });

    test('about a new task only if there is one', async () => {
      const { tasks, create } = await openList();
      const task = await create('one');
      expect(await tasks.judgeNewTask(TEAM, '1')).toEqual({ task });
    });

    test('about a new task only if it judges those of this team; all others are claimable at once', async () => {
      const { ledger, journal } = await openList();
      const unasked = () => Promise.reject(new Error('nobody asked for this'));
      const gate = { executeTaskCompletedHook: async () => verdict(0), executeTaskCreatedHook: unasked };
      const gates: TaskGate[] = [
        { executeTaskCompletedHook: async () => verdict(0) },
        { ...gate, judgesNewTasks: async (teamId) => teamId !== TEAM },
      ];
      for (const one of gates) {
        const tasks = new SharedTaskList(ledger, { gate: one });
        onTestFinished(() => tasks.close());
        journal.appends.length = 0;
        expect(await tasks.createTask(TEAM, 'lead', { title: 'one' })).toMatchObject({ status: 'pending' });
        expect(journal.appends).toEqual([1]);
      }
      const strict = new SharedTaskList(ledger, { gate });
      onTestFinished(() => strict.close());
      await expect(strict.createTask(TEAM, 'lead', { title: 'one' })).rejects.toThrow('nobody asked for this');
      // Left unjudged by a daemon that had such a gate.
      const left = CreateTaskInput.parse({ title: 'left' });
      await run(ledger, { type: 'task.create', by: 'lead', ...left, unjudged: true });
      const plain = new SharedTaskList(ledger, { gate: { executeTaskCompletedHook: async () => verdict(0) } });
      onTestFinished(() => plain.close());
      expect(await plain.judgeNewTask(TEAM, '4')).toMatchObject({ task: { status: 'pending', unjudged: false } });
    });

    test('and a person is asked if it cannot run, which is no try of the member', async () => {
      const { ledger, tasks, create, get } = await openList({ gate: () => verdict(2, { unable: 'it cannot start' }) });
      await create('one');
      await tasks.claimTask(TEAM, '1', 'ann');
      await expect(tasks.completeTask(TEAM, '1', 'ann')).rejects.toMatchObject({
        code: 'gate_rejected',
        message: 'it cannot start\nA person was asked. The work needs no change',
      });
      expect(await get('1')).toMatchObject({ status: 'in_progress', rejections: 0 });
      expect(await ledger.view(TEAM, ({ requests }) => [...requests.values()])).toMatchObject([{ kind: 'gate' }]);
    });

    test('and a person who completes a task hears why it cannot run, and is not asked', async () => {
      const { tasks, create } = await openList({ gate: () => verdict(2, { unable: 'it cannot start' }) });
      await create('one');
      await create('two');
      const unable = { code: 'gate_rejected', message: 'it cannot start' };
      await expect(tasks.completeTask(TEAM, '1', USER)).rejects.toMatchObject(unable);
      await expect(tasks.completeTask(TEAM, '2', 'lead')).rejects.toMatchObject(unable);
      await tasks.claimTask(TEAM, '1', 'ann');
      await expect(tasks.completeTask(TEAM, '1', USER)).rejects.toMatchObject(unable);
    });

    test('about what a person completes, in the name of that person', async () => {
      const names: string[] = [];
      const { tasks, create } = await openList({
        gate({ memberName }) {
          names.push(memberName);
          return verdict(0);
        },
      });
      await create('one');
      await tasks.completeTask(TEAM, '1', USER);
      expect(names).toEqual([USER]);
    });

    test('unless it says that it judges no completions of this team', async () => {
      const gate = { executeTaskCompletedHook: async () => verdict(0) };
      expect(await judgesCompletions(gate, TEAM)).toBe(true);
      const judgesSome = { ...gate, judgesCompletions: async (teamId: string) => teamId !== TEAM };
      expect(await Promise.all(['other', TEAM].map((team) => judgesCompletions(judgesSome, team)))).toEqual([
        true,
        false,
      ]);
    });

    test('and a failure of the gate itself lets the work pass', async () => {
      const { tasks, create } = await openList({ gate: () => verdict(1) });
      await create('one');
      await tasks.claimTask(TEAM, '1', 'ann');
      expect(await tasks.completeTask(TEAM, '1', 'ann')).toMatchObject({ status: 'completed' });
    });

    test.each<[string, ListOptions['gate'], string]>([
      ['there is no gate', undefined, 'No gate judged it.'],
      ['the gate fails', () => verdict(1), 'No gate judged it.'],
      ['the gate rejects', () => verdict(2, { stderr: 'no tests' }), 'The gate does not accept it: no tests'],
    ])('and a person is asked at once about a task whose model refused if %s', async (_why, gate, said) => {
      const { ledger, tasks, create, get } = await openList(gate ? { gate } : {});
      await create('one');
      await tasks.claimTask(TEAM, '1', 'ann');
      const refused = { result: 'the model refused: no', refused: true };
      const asked = { code: 'gate_rejected', message: expect.stringContaining('A person was asked') };
      await expect(tasks.completeTask(TEAM, '1', 'ann', refused)).rejects.toMatchObject(asked);
      expect(await get('1')).toMatchObject({ status: 'in_progress', assigneeId: 'ann', rejections: 0 });
      const [request] = await ledger.view(TEAM, ({ requests }) => [...requests.values()]);
      expect(request).toMatchObject({ kind: 'gate', status: 'pending', taskId: '1' });
      expect(wordGate(request?.detail)).toBe('Refused by the model');
      expect(request?.content).toBe(
        `The model refused task #1. Its answer: the model refused: no\n${said}\n` +
          'Yes completes the task as it is. No gives it back, to be done again, with what you write.',
      );
      const answer = { type: 'request.answer', by: USER, requestId: request?.id ?? '', approve: true } as const;
      await run(ledger, answer);
      expect(await get('1')).toMatchObject({ status: 'completed', result: 'the model refused: no' });
    });

    test('and a gate that accepts completes a task whose model refused; so does a person', async () => {
      const { ledger, tasks, create } = await openList({ gate: () => verdict(0, { accepted: true }) });
      await create('one');
      await create('two');
      await tasks.claimTask(TEAM, '1', 'ann');
      await tasks.claimTask(TEAM, '2', 'ann');
      expect(await tasks.completeTask(TEAM, '1', 'ann', { refused: true })).toMatchObject({ status: 'completed' });
      // Without the word of a gate, only a person may.
      const direct = { type: 'task.complete', taskId: '2', refused: true } as const;
      await expect(run(ledger, { ...direct, by: 'ann' })).rejects.toMatchObject({ code: 'conflict' });
      await run(ledger, { ...direct, by: USER });
      expect(await tasks.getTask(TEAM, '2')).toMatchObject({ status: 'completed' });
    });

    test('and a gate that throws at a completion changes nothing', async () => {
      const { ledger, tasks, create } = await openList({
        gate() {
          throw new Error('no such program');
        },
      });
      await create('one');
      await tasks.claimTask(TEAM, '1', 'ann');
      const before = await observed(ledger);
      await expect(tasks.completeTask(TEAM, '1', 'ann')).rejects.toThrow('no such program');
      expect(await observed(ledger)).toEqual(before);
    });

    test.each<[string, string, (tools: Awaited<ReturnType<typeof openList>>) => Promise<unknown>]>([
      ['revision', 'stale_revision', ({ tasks }) => tasks.updateTask(TEAM, '1', { title: 'changed' })],
      [
        'epoch',
        'stale_epoch',
        async ({ ledger, tasks }) => {
          await run(ledger, { type: 'task.release', by: 'lead', taskId: '1' });
          await tasks.claimTask(TEAM, '1', 'ann');
        },
      ],
      ['holder', 'stale_epoch', ({ ledger }) => run(ledger, leave('ann'), join('ann'))],
    ])('and ignores its verdict if the %s changed while it ran (invariant 10)', async (_what, code, meanwhile) => {
      const gate = door();
      const tools = await openList({ gate: () => gate.pass().then(() => verdict(0)) });
      const { ledger, tasks, create } = tools;
      await create('one');
      await tasks.claimTask(TEAM, '1', 'ann');
      const completion = tasks.completeTask(TEAM, '1', 'ann').catch((error: unknown) => error);
      const update = tasks.updateTask(TEAM, '1', { status: 'completed' }, 'ann').catch((error: unknown) => error);
      await expect.poll(gate.waiting).toBe(2);
      await meanwhile(tools);
      const before = await observed(ledger);
      gate.open();
      expect([await completion, await update]).toMatchObject([{ code }, { code }]);
      expect(await observed(ledger)).toEqual(before);
    });

    test('and blocks no other call while it runs', async () => {
      const gate = door();
      const { tasks, create } = await openList({ gate: () => gate.pass().then(() => verdict(0)) });
      await create('one');
      await create('two');
      await tasks.claimTask(TEAM, '1', 'ann');
      const completion = tasks.completeTask(TEAM, '1', 'ann');
      await expect.poll(gate.waiting).toBe(1);
      expect(await tasks.claimNextTask(TEAM, 'bob')).toMatchObject({ id: '2' });
      gate.open();
      expect(await completion).toMatchObject({ status: 'completed' });
    });

    test('only if the completion would be accepted and was not done before', async () => {
      let asked = 0;
      const { tasks, create } = await openList({
        gate() {
          asked++;
          return verdict(0);
        },
      });
      await create('one');
      await tasks.claimTask(TEAM, '1', 'ann');
      await expect(tasks.completeTask(TEAM, '1', 'bob')).rejects.toMatchObject({ code: 'not_allowed' });
      await expect(tasks.completeTask(TEAM, '9', 'ann')).rejects.toMatchObject({ code: 'not_found' });
      await expect(tasks.completeTask(TEAM, '1', 'ann', { epoch: 7 })).rejects.toMatchObject({ code: 'stale_epoch' });
      await expect(tasks.updateTask(TEAM, '1', { status: 'completed', revision: 1 }, 'ann')).rejects.toMatchObject({
        code: 'stale_revision',
      });
      expect(asked).toBe(0);
      const done = await tasks.completeTask(TEAM, '1', 'ann', { commandId: 'c1' });
      expect(await tasks.completeTask(TEAM, '1', 'ann', { commandId: 'c1' })).toEqual(done);
      await expect(tasks.completeTask(TEAM, '1', 'ann')).rejects.toThrow(TeamError);
      const renamed = { title: 'ONE', status: 'completed' } as const;
      expect(await tasks.updateTask(TEAM, '1', renamed)).toMatchObject(renamed);
      expect(asked).toBe(1);
    });
  });
});
