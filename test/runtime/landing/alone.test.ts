import { expect, test } from 'vitest';
import { SYSTEM } from '../../../src/core/actor.ts';
import { run } from '../../ledger/commands.ts';
import { verdict } from '../../ledger/task-lists.ts';
import { until } from '../../until.ts';
import { latch, openQueueStage } from './stage.ts';

test('work that cannot be judged alone is left to its landing, and not judged again and again', async () => {
  const landing = latch();
  let isAway = true;
  const stage = await openQueueStage({
    members: ['ann', 'bob', 'cyd'],
    gates: 1,
    gate: async ({ taskId }) => {
      if (taskId === '1') await landing.wait();
      return verdict(0);
    },
    git: {
      isAsHandedIn: async () => {
        if (isAway) throw new Error('the repository is away');
        return true;
      },
    },
  });
  const ends = [];
  for (const name of ['ann', 'bob', 'cyd']) {
    stage.write(name, { [name]: '1' });
    ends.push(stage.complete(name));
    await until(`${name} is judged`, () => stage.asked.some(({ taskId }) => taskId === stage.taskOf(name)));
  }
  await until('both failed', () => stage.errors.length >= 2);
  expect(stage.asked.map(({ taskId }) => taskId)).toEqual(['1', '2', '3']);
  isAway = false;
  landing.open();
  expect(await Promise.all(ends)).toMatchObject([
    { status: 'completed' },
    { status: 'completed' },
    { status: 'completed' },
  ]);
});

test('work that is handed in again unchanged is not judged twice at once', async () => {
  const [landing, alone] = [latch(), latch()];
  const stage = await openQueueStage({
    members: ['ann', 'bob', 'cyd', 'dan'],
    gates: 3,
    gate: async ({ taskId }) => {
      if (taskId === '1') await landing.wait();
      if (taskId === '2') await alone.wait();
      return verdict(0);
    },
  });
  const asks = (name: string): number => stage.asked.filter(({ taskId }) => taskId === stage.taskOf(name)).length;
  for (const name of ['ann', 'bob', 'cyd', 'dan']) stage.write(name, { [name]: '1' });
  const ann = stage.complete('ann');
  await until('ann lands', () => asks('ann') === 1);
  const first = stage.complete('bob');
  await until('bob is judged', () => asks('bob') === 1);
  // Another machine sends it back.
  const { epoch = 0, work } = (await stage.show('bob')) ?? {};
  const about = { taskId: stage.taskOf('bob'), epoch, commit: work?.commit, feedback: 'not yet' };
  await run(stage.ledger, { type: 'task.reject', by: SYSTEM, ...about });
  await expect(first).rejects.toThrow('not yet');
  const cyd = stage.complete('cyd');
  await until('cyd is judged', () => asks('cyd') === 1);
  const second = stage.complete('bob');
  const dan = stage.complete('dan');
  // It is behind bob in the queue.
  await until('dan is judged', () => asks('dan') === 1);
  expect(asks('bob')).toBe(1);
  alone.open();
  landing.open();
  expect(await Promise.all([ann, second, cyd, dan])).toMatchObject(
    ['ann', 'bob', 'cyd', 'dan'].map(() => ({ status: 'completed' })),
  );
});
