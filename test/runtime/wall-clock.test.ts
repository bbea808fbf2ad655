import { expect, onTestFinished, test, vi } from 'vitest';
import { ringAt } from '../../src/runtime/wall-clock.ts';

const HOUR = 3_600_000;

function clockOfOurOwn(): void {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

test('rings at its time, once, and not before; not at all if it is taken back', () => {
  clockOfOurOwn();
  const rung: string[] = [];
  ringAt(Date.now() + 2 * HOUR, () => rung.push('late'));
  ringAt(Date.now() - HOUR, () => rung.push('past'));
  const takeBack = ringAt(Date.now() + HOUR, () => rung.push('never'));
  expect(rung).toEqual([]);
  vi.advanceTimersByTime(0);
  expect(rung).toEqual(['past']);
  vi.advanceTimersByTime(HOUR - 1);
  takeBack();
  vi.advanceTimersByTime(HOUR);
  expect(rung).toEqual(['past']);
  vi.advanceTimersByTime(HOUR);
  expect(rung).toEqual(['past', 'late']);
});

test('rings soon after a machine wakes up that slept past the time', () => {
  clockOfOurOwn();
  let isRung = false;
  ringAt(Date.now() + 2 * HOUR, () => (isRung = true));
  // The time of day goes on, and no timer does.
  vi.setSystemTime(Date.now() + 3 * HOUR);
  expect(isRung).toBe(false);
  vi.advanceTimersByTime(60_000);
  expect(isRung).toBe(true);
});
