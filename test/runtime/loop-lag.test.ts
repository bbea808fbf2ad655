import { expect, onTestFinished, test } from 'vitest';
import { watchLoopLag } from '../../src/runtime/loop-lag.ts';
import { until } from '../until.ts';

test('every long lag is reported, also one that begins right after the last report', async () => {
  const reported: number[] = [];
  const block = (): void => {
    for (const end = performance.now() + 150; performance.now() < end;);
  };
  const lag = watchLoopLag(100, (ms) => {
    reported.push(ms);
    // The next one begins at once.
    if (reported.length < 4) block();
  });
  onTestFinished(() => lag.close());
  block();
  await until('all are reported', () => reported.length >= 4);
  for (const ms of reported) expect(ms).toBeGreaterThan(99);
  expect(lag.milliseconds()).toBe(reported.at(-1));
});
