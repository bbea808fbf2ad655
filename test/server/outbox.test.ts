import { expect, test } from 'vitest';
import { LIMITS, LOOK_MS } from '../../src/server/limits.ts';
import { openOutbox } from '../../src/server/outbox.ts';
import type { Taken } from '../../src/server/outbox.ts';

test('a client stalls after many checks without progress, however late the first check comes', () => {
  let moved: Taken = () => {};
  const now = (work: () => void): void => work();
  const outbox = openOutbox(
    { write: (_frames, hear) => void (moved = hear) },
    { limits: LIMITS, turns: { answer: now, push: now } },
    () => {},
  );
  const looks = (): number => {
    let count = 1;
    while (!outbox.isStalled()) count++;
    return count;
  };
  expect(outbox.isStalled()).toBe(false);
  outbox.send('first');
  expect(looks()).toBe(LIMITS.stallMs / LOOK_MS + 1);
  moved();
  expect(looks()).toBe(LIMITS.stallMs / LOOK_MS + 1);
});
