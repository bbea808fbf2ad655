import { expect, test } from 'vitest';
import { allSpoken, Turns } from '../../src/ledger/turns.ts';

test('all that wait for the end of a turn continue together, and later ones with the next', async () => {
  const turns = new Turns();
  const first = turns.end();
  expect(turns.end()).toBe(first);
  let isOver = false;
  setImmediate(() => (isOver = true));
  await Promise.all([first, new Promise((resolve) => void setImmediate(resolve))]);
  expect(isOver).toBe(true);
  const second = turns.end();
  expect(second).not.toBe(first);
  expect(turns.end()).toBe(second);
  await second;
});

test('all have spoken when no step is left that follows from an answer', async () => {
  let steps = 0;
  const speaking = (async () => {
    for (; steps < 100; steps++) await Promise.resolve();
  })();
  await allSpoken();
  expect(steps).toBe(100);
  await speaking;
});
