import { expect, onTestFinished, test } from 'vitest';
import type { HookResult } from '../../src/core/hook.ts';
import { parse } from '../../src/core/parse.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import { keepNewTasks } from '../../src/runtime/new-task-keeper.ts';
import { createTeam, join, leave, TEAM } from '../ledger/commands.ts';
import { openLedger } from '../ledger/places.ts';

const verdict = (exitCode: 0 | 2, unable?: string): HookResult => ({
  exitCode,
  stdout: '',
  stderr: '',
  duration: 1,
  timedOut: false,
  ...(unable !== undefined && { unable }),
});

/** A team with two tasks whose daemon ended before their hooks had judged them, and a gate of the next daemon. */
async function setStage(judge: (title: string) => HookResult | Promise<HookResult>) {
  const ledger = openLedger(memoryJournal());
  await createTeam(ledger);
  for (const title of ['good', 'bad']) {
    const input = parse(CreateTaskInput, { title });
    const command = {
      type: 'task.create',
      by: 'lead',
      commandId: `create ${title}`,
      ...input,
      unjudged: true,
    } as const;
    await ledger.execute(TEAM, command, () => undefined);
  }
  const asked: string[] = [];
  const errors: unknown[] = [];
  const gate = {
    executeTaskCompletedHook: () => Promise.resolve(verdict(0)),
    executeTaskCreatedHook: async ({ taskTitle }: { taskTitle: string }) => judge((asked.push(taskTitle), taskTitle)),
  };
  const tasks = new SharedTaskList(ledger, { gate });
  const open = (alone = true) => {
    const keeper = keepNewTasks({ ledger, tasks, alone }, (error) => errors.push(error));
    onTestFinished(() => keeper.close());
    return keeper;
  };
  onTestFinished(() => tasks.close());
  const listed = async () => (await tasks.listTasks(TEAM)).map(({ title, status }) => `${title} ${status}`);
  return { ledger, tasks, asked, errors, open, listed };
}

test('tasks whose daemon ended before their verdict are judged when the next daemon starts', async () => {
  const stage = await setStage((title) => verdict(title === 'bad' ? 2 : 0));
  expect(await stage.listed()).toEqual(['good blocked', 'bad blocked']);
  await stage.open().start();
  await expect.poll(stage.listed).toEqual(['good pending']);
  expect(stage.asked).toEqual(['good', 'bad']);
  expect(stage.errors).toEqual([]);
});

test('if several daemons share the journal, a new one first gives the others time to judge', async () => {
  const stage = await setStage(() => verdict(0));
  await stage.open(false).start();
  await stage.tasks.createTask(TEAM, 'lead', { title: 'mine' });
  expect(await stage.listed()).toEqual(['good blocked', 'bad blocked', 'mine pending']);
  expect(stage.asked).toEqual(['mine']);
});

test('a blocking hook that cannot run leaves the task to other daemons, and deletes nothing', async () => {
  const stage = await setStage(() => verdict(2, 'its folder is not there'));
  await stage.open().start();
  await expect.poll(() => stage.asked).toEqual(['good', 'bad']);
  expect(await stage.listed()).toEqual(['good blocked', 'bad blocked']);
});

test('after a stop, no hook runs for the tasks that it left unjudged until a person brings a member up', async () => {
  const stage = await setStage(() => verdict(0));
  const start = join('runner', { agent: { kind: 'exec', command: ['true'] }, status: 'spawning' });
  await stage.ledger.execute(TEAM, [start, leave('runner', { reason: 'the daemon was stopped' })], () => undefined);
  await stage.open().start();
  await stage.tasks.createTask(TEAM, 'lead', { title: 'mine' });
  expect(stage.asked).toEqual(['mine']);
  expect(await stage.listed()).toEqual(['good blocked', 'bad blocked', 'mine pending']);
  await stage.ledger.execute(TEAM, start, () => undefined);
  await expect.poll(stage.listed).toEqual(['good pending', 'bad pending', 'mine pending']);
  expect(stage.asked).toEqual(['mine', 'good', 'bad']);
  expect(stage.errors).toEqual([]);
});

test('a call that is repeated after a crash and the keeper share one run of the hooks', async () => {
  const hooks = Promise.withResolvers<HookResult>();
  const stage = await setStage(() => hooks.promise);
  await stage.open().start();
  await expect.poll(() => stage.asked).toEqual(['good', 'bad']);
  const again = stage.tasks.createTask(TEAM, 'lead', { title: 'good' }, { commandId: 'create good' });
  // By now it would have asked too.
  await stage.ledger.execute(TEAM, join('runner'), () => undefined);
  hooks.resolve(verdict(0));
  expect(await again).toMatchObject({ id: '1', status: 'pending' });
  expect(stage.asked).toEqual(['good', 'bad']);
});
