import { expect, test } from 'vitest';
import { Semaphore } from '../../src/runtime/semaphore.ts';
import type { Release } from '../../src/runtime/semaphore.ts';

test('gives out its capacity and no more, and takes each place back once', () => {
  const places = new Semaphore(2);
  const first = places.tryTake() as Release;
  expect(places.tryTake()).toBeDefined();
  expect(places.tryTake()).toBeUndefined();
  first();
  first();
  expect(places.taken).toBe(1);
  expect(places.tryTake()).toBeDefined();
  expect(places.tryTake()).toBeUndefined();
});

test('serves waiting callers in order, one per turn of the event loop, and never more than there are places', async () => {
  const places = new Semaphore(2);
  const held: Release[] = [];
  const order: number[] = [];
  const takes = Array.from({ length: 6 }, async (_, at) => {
    held.push(await places.take());
    order.push(at);
  });
  await Promise.all(takes.slice(0, 2));
  expect({ order, taken: places.taken }).toEqual({ order: [0, 1], taken: 2 });
  for (const release of held.splice(0)) release();
  const turns: number[] = [];
  while (order.length < 6) {
    await new Promise(setImmediate);
    turns.push(order.length);
    expect(places.taken).toBeLessThanOrEqual(2);
    if (held.length === 2) for (const release of held.splice(0)) release();
  }
  expect(order).toEqual([0, 1, 2, 3, 4, 5]);
  // Never two in one turn.
  for (const [at, count] of turns.entries()) expect(count - (turns[at - 1] ?? 2)).toBeLessThanOrEqual(1);
  await Promise.all(takes);
});

test('F42: a limited number run at once, a limited number wait in order, and others are asked to retry', async () => {
  const places = new Semaphore(2, { most: 3, of: 'hooks' });
  const ends: PromiseWithResolvers<void>[] = [];
  const order: number[] = [];
  const start = (i: number): Promise<number> =>
    places.run(async () => {
      order.push(i);
      const end = Promise.withResolvers<void>();
      ends.push(end);
      await end.promise;
      return i;
    });
  const all = [1, 2, 3, 4, 5].map(start);
  await expect(start(6)).rejects.toMatchObject({
    code: 'overloaded',
    message: '3 hooks wait for their turn: try again in a moment',
  });
  expect(order).toEqual([1, 2]);
  for (let i = 0; i < 5; i++) {
    await expect.poll(() => ends.length).toBeGreaterThan(i);
    ends[i]?.resolve();
  }
  expect(await Promise.all(all)).toEqual([1, 2, 3, 4, 5]);
  expect(order).toEqual([1, 2, 3, 4, 5]);
});
