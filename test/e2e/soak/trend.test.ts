import { expect, test } from 'vitest';
import { random } from '../../seed.ts';
import { fitTrend, floorsOf, isFlat } from './trend.ts';
import type { Point } from './trend.ts';

const BOUND = { perDay: 0.1, seen: 0.05 };

/** Two hours, a point every minute: 100 at first, some more a day, and noise of a share. */
function series(perDay: number, noise: number): Point[] {
  const next = random(1);
  return Array.from({ length: 120 }, (_, at) => {
    return { at, value: 100 * (1 + (perDay * at) / 1_440) * (1 + noise * (next() - 0.5)) };
  });
}

test('a series that stays, or falls, is flat, whatever its noise', () => {
  for (const noise of [0, 0.01, 0.1, 0.5]) {
    expect(isFlat(fitTrend(series(0, noise), 10), BOUND)).toBe(true);
    expect(isFlat(fitTrend(series(-0.5, noise), 10), BOUND)).toBe(true);
  }
});

test('growth that noise does not hide is found', () => {
  expect(isFlat(fitTrend(series(0.05, 0), 10), BOUND)).toBe(true);
  expect(isFlat(fitTrend(series(0.2, 0), 10), BOUND)).toBe(false);
  expect(isFlat(fitTrend(series(0.2, 0.01), 10), BOUND)).toBe(false);
  expect(fitTrend(series(0.2, 0.01), 10).perDay).toBeCloseTo(0.2, 1);
  // With much noise only growth that was seen counts.
  expect(isFlat(fitTrend(series(2, 0.5), 10), BOUND)).toBe(false);
});

test('what happens before the first minute that counts, and wild points, change nothing', () => {
  const points = series(0, 0.01).map(({ at, value }, i) => ({
    at,
    value: at < 10 ? at : i % 7 === 0 ? 10 * value : value,
  }));
  expect(isFlat(fitTrend(points, 10), BOUND)).toBe(true);
});

test('the floor of a series that goes up and down shows what never goes away', () => {
  const busy = series(0, 0).map(({ at }, i) => ({ at, value: 20 + (i % 4) * 30 }));
  const leaks = busy.map(({ at, value }) => ({ at, value: value + Math.floor(at / 10) }));
  expect(floorsOf(busy, 5).map(({ value }) => value)).toEqual(Array.from({ length: 24 }, () => 20));
  expect(isFlat(fitTrend(floorsOf(busy, 5), 10), BOUND)).toBe(true);
  expect(isFlat(fitTrend(floorsOf(leaks, 5), 10), BOUND)).toBe(false);
});
