import { expect, test } from 'vitest';
import { Semaphore } from '../../src/server/semaphore.ts';
import type { Release } from '../../src/server/semaphore.ts';

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
