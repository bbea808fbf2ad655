import { expect, test } from 'vitest';
import { backOff, jitter } from '../../src/core/back-off.ts';

test('each pause is twice the one before, up to the longest', () => {
  const pauses = [1, 2, 3, 4, 5, 60].map((attempt) => backOff(attempt, { least: 20, most: 100 }));
  expect(pauses).toEqual([20, 40, 80, 100, 100, 100]);
});

test('jitter makes a pause shorter or longer by up to a half', () => {
  expect([0, 0.5, 1].map((chance) => jitter(100, chance))).toEqual([50, 100, 150]);
  expect(backOff(2, { least: 20, most: 100 }, 0)).toBe(20);
});
