import { expect, test } from 'vitest';
import { openListeners } from '../../src/journal/listeners.ts';

test('listeners are woken with their team until they stop', () => {
  const listeners = openListeners();
  const woken: string[] = [];
  const [first, second, other] = ['alpha 1', 'alpha 2', 'beta 1'].map((name) =>
    listeners.listen(name.slice(0, -2), () => woken.push(name)),
  );
  expect(listeners.size).toBe(2);
  listeners.wake('alpha');
  listeners.wake('gamma');
  expect(woken.splice(0)).toEqual(['alpha 1', 'alpha 2']);
  first?.();
  listeners.wakeAll();
  expect(woken.splice(0)).toEqual(['alpha 2', 'beta 1']);
  second?.();
  other?.();
  expect(listeners.size).toBe(0);
  listeners.wakeAll();
  expect(woken).toEqual([]);
});

test('a listener that stops twice stops no other one', () => {
  const listeners = openListeners();
  const woken: string[] = [];
  const stop = listeners.listen('alpha', () => woken.push('first'));
  stop();
  stop();
  listeners.listen('alpha', () => woken.push('second'));
  stop();
  listeners.wake('alpha');
  expect(woken).toEqual(['second']);
});
