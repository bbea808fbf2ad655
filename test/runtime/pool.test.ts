import { expect, test } from 'vitest';
import { pool } from '../../src/runtime/hooks/pool.ts';

test('F42: a limited number run at once, a limited number wait in order, and others are asked to retry', async () => {
  const run = pool(2, 3);
  const ends: PromiseWithResolvers<void>[] = [];
  const order: number[] = [];
  const start = (i: number): Promise<number> =>
    run(async () => {
      order.push(i);
      const end = Promise.withResolvers<void>();
      ends.push(end);
      await end.promise;
      return i;
    });
  const all = [1, 2, 3, 4, 5].map(start);
  await expect(start(6)).rejects.toMatchObject({ code: 'overloaded' });
  expect(order).toEqual([1, 2]);
  for (let i = 0; i < 5; i++) {
    await expect.poll(() => ends.length).toBeGreaterThan(i);
    ends[i]?.resolve();
  }
  expect(await Promise.all(all)).toEqual([1, 2, 3, 4, 5]);
  expect(order).toEqual([1, 2, 3, 4, 5]);
});
