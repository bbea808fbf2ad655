import { expect, test } from 'vitest';
import { excerptOf, isHalf, matcherOf } from '../../src/core/excerpt.ts';

test('an excerpt has the first match and 80 characters on both sides', () => {
  const text = `${'a'.repeat(100)}Needle${'b'.repeat(100)}needle`;
  expect(excerptOf(text, matcherOf('needle'))).toEqual({
    before: 'a'.repeat(80),
    match: 'Needle',
    after: 'b'.repeat(80),
  });
  expect(excerptOf('a needle', matcherOf('needle'))).toEqual({ before: 'a ', match: 'needle', after: '' });
  expect(excerptOf('hay', matcherOf('needle'))).toBeUndefined();
});

test('an excerpt begins and ends with whole characters', () => {
  const faces = '😀'.repeat(50);
  const found = excerptOf(`${faces}.needle.${faces}`, matcherOf('needle'));
  expect(found).toEqual({ before: `${'😀'.repeat(39)}.`, match: 'needle', after: `.${'😀'.repeat(39)}` });
  expect([0, 1, 2].map((place) => isHalf('😀', place))).toEqual([false, true, false]);
  // A second half without its first is a character of its own.
  expect(isHalf('\uDE00', 0)).toBe(false);
  expect(isHalf('\uD83Dx', 1)).toBe(false);
});

test('a search finds the text as it is written, not as a pattern', () => {
  const all = '\\^$.*+?()[]{}|/-';
  expect(excerptOf(`x${all}y`, matcherOf(all))?.match).toBe(all);
  expect(excerptOf('abc', matcherOf('a.c'))).toBeUndefined();
});
