import { expect, onTestFinished, test } from 'vitest';
import { SYSTEM } from '../../src/core/actor.ts';
import type { SharedTask } from '../../src/core/task.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { ClaimKeeper } from '../../src/ledger/claim-keeper.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import { createTeam, run, task, TEAM } from './commands.ts';
import { openLedger } from './places.ts';

/** A list that another program shares. `confirm` is what that program says about a claim. */
async function openShared(confirm: (task: SharedTask) => Promise<boolean>) {
  const ledger = openLedger(memoryJournal());
  await createTeam(ledger);
  await run(ledger, task('one'), task('two'), task('three'));
  const asked: string[] = [];
  const askedFor: string[] = [];
  const claims: ClaimKeeper = {
    keeps: (teamId) => teamId === TEAM,
    async confirm(_teamId, one, memberId) {
      asked.push(one.id);
      askedFor.push(memberId);
      return confirm(one);
    },
  };
  const tasks = new SharedTaskList(ledger, { claims });
  onTestFinished(() => tasks.close());
  return { ledger, tasks, asked, askedFor };
}

/** What the journal says of a task that the other program has: nobody here gets it. */
async function withhold(ledger: Parameters<typeof run>[0], taskId: string): Promise<void> {
  await run(ledger, { type: 'task.release', by: SYSTEM, taskId });
  await run(ledger, { type: 'task.update', by: SYSTEM, taskId, withheld: 'zed' });
}

test('a claim that the other program does not confirm goes on with the next best task', async () => {
  const { ledger, tasks, asked } = await openShared(async ({ id }) => {
    if (id === '1') await withhold(ledger, id);
    return id !== '1';
  });
  expect(await tasks.claimNextTask(TEAM, 'ann')).toMatchObject({ id: '2', assigneeId: 'ann' });
  expect(asked).toEqual(['1', '2']);
});

test('a repeated claim goes through the same tasks, and gets the one that it got before', async () => {
  const { ledger, tasks, asked } = await openShared(async ({ id }) => {
    if (id === '1' && asked.length === 1) await withhold(ledger, id);
    return id !== '1';
  });
  const claim = () => tasks.claimNextTask(TEAM, 'ann', { commandId: 'c1' });
  expect(await claim()).toMatchObject({ id: '2' });
  expect(await claim()).toMatchObject({ id: '2' });
  expect(asked).toEqual(['1', '2', '1', '2']);
  // Without an id it is another claim.
  expect(await tasks.claimNextTask(TEAM, 'ann')).toMatchObject({ id: '3' });
  // The answer is what it was about, even if it was deleted since.
  await tasks.updateTask(TEAM, '2', { status: 'deleted' });
  expect(await claim()).toMatchObject({ id: '2', status: 'deleted' });
});

test('a claim that cannot be confirmed fails, unless its task is withheld now', async () => {
  const { ledger, tasks } = await openShared(async ({ id }) => {
    if (id === '1') await withhold(ledger, id);
    throw new Error('the folder is gone');
  });
  await expect(tasks.claimNextTask(TEAM, 'ann')).rejects.toThrow('the folder is gone');
  expect((await tasks.getTask(TEAM, '1'))?.withheld).toBe('zed');
  expect(await tasks.getTask(TEAM, '2')).toMatchObject({ assigneeId: 'ann' });
});

test('none is claimed if the other program has them all', async () => {
  const { ledger, tasks } = await openShared(async ({ id }) => {
    await withhold(ledger, id);
    return false;
  });
  expect(await tasks.claimNextTask(TEAM, 'ann')).toBeUndefined();
});

test('a claim by name is refused if the other program was first', async () => {
  const { tasks } = await openShared(async () => false);
  await expect(tasks.claimTask(TEAM, '1', 'ann')).rejects.toMatchObject({ code: 'claim_conflict' });
});

test('an update that claims is answered when the claim is confirmed, also when it is sent again meanwhile', async () => {
  const confirmed = Promise.withResolvers<boolean>();
  const { tasks, asked } = await openShared(() => confirmed.promise);
  const claim = () => tasks.updateTask(TEAM, '1', { status: 'in_progress' }, 'ann', { commandId: 'c1' });
  const [first, answered] = [claim(), [] as string[]];
  await expect.poll(() => asked.length).toBe(1);
  const again = claim().then(() => answered.push('again'));
  await expect.poll(() => asked.length).toBe(2);
  expect(answered).toEqual([]);
  confirmed.resolve(true);
  expect(await first).toMatchObject({ status: 'in_progress', assigneeId: 'ann' });
  await again;
  // Long after, the same call is about a task that is done. Nothing is left to confirm.
  await tasks.completeTask(TEAM, '1', 'ann');
  expect(await claim()).toMatchObject({ status: 'completed' });
  expect(asked).toHaveLength(2);
});

test('a claim by an update is confirmed for the member that gets the task', async () => {
  const { tasks, askedFor } = await openShared(async () => true);
  await tasks.updateTask(TEAM, '1', { status: 'in_progress' }, 'ann');
  await tasks.updateTask(TEAM, '2', { status: 'in_progress', assigneeId: 'bob' }, 'lead');
  await tasks.updateTask(TEAM, '3', { title: 'THREE', status: 'in_progress' }, 'bob');
  expect(askedFor).toEqual(['ann', 'bob', 'bob']);
});

test('nothing is confirmed after an update that claims nothing', async () => {
  const { tasks, asked } = await openShared(async () => true);
  await tasks.updateTask(TEAM, '1', { title: 'ONE' });
  expect(asked).toEqual([]);
  await tasks.claimTask(TEAM, '1', 'ann');
  asked.length = 0;
  // It is in progress, and stays so.
  await tasks.updateTask(TEAM, '1', { status: 'in_progress' }, 'ann');
  for (let times = 0; times < 2; times++) {
    expect(await tasks.updateTask(TEAM, '1', { title: 'uno' }, 'ann', { commandId: 'c1' })).toMatchObject({
      title: 'uno',
      status: 'in_progress',
    });
  }
  expect(asked).toEqual([]);
});
