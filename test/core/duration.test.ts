import { expect, test } from 'vitest';
import { durationOf } from '../../src/core/duration.ts';
import { parseTime, typedTime } from '../../src/core/typed-time.ts';

test('times are read in the units that people type', () => {
  expect(['30s', '5m', '5min', '2h30m', '1.5s', '250ms', '250', '1d'].map(parseTime)).toEqual([
    30_000, 300_000, 300_000, 9_000_000, 1_500, 250, 250, 86_400_000,
  ]);
  expect(['', 'soon', '5 m', '-5s', '5x'].map(parseTime)).toEqual(Array(5).fill(undefined));
});

test('a time is refused with both bounds, as people type them', () => {
  const lease = durationOf(1_000, 7 * 24 * 3_600_000);
  expect(lease.parse(1_000)).toBe(1_000);
  for (const wrong of [0, 8 * 24 * 3_600_000]) {
    expect(lease.safeParse(wrong).error?.issues[0]?.message).toBe('must be from 1s to 7d');
  }
  expect([0, 0.5, 1, 500, 1_000, 90_000, 300_000, 3_600_000, 86_400_000].map(typedTime)).toEqual([
    '0s',
    '0.5ms',
    '1ms',
    '500ms',
    '1s',
    '90s',
    '5m',
    '1h',
    '1d',
  ]);
});
