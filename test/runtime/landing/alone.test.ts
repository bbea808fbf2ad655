import { expect, test } from 'vitest';
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
