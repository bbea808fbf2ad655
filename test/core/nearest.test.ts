import { expect, test } from 'vitest';
import { findNearest } from '../../src/core/nearest.ts';

test.each<[string, string[], string | undefined, string]>([
  ['taks', ['task', 'team'], 'task', 'swapped letters'],
  ['tsk', ['task', 'team'], 'task', 'a missing letter'],
  ['taask', ['task', 'team'], 'task', 'one too many'],
  ['Task', ['task'], 'task', 'another case'],
  ['mem', ['message', 'member'], 'member', 'the beginning'],
  ['fsh', ['zsh', 'fish'], 'fish', 'the first letter is rarely wrong'],
  ['elephant', ['task', 'team'], undefined, 'nothing like it'],
  ['x', ['a', 'b'], undefined, 'a single letter is like any other'],
  ['x', ['X'], 'X', 'the same letter'],
  ['me', ['member'], undefined, 'two letters begin too much'],
  ['task', [], undefined, 'nothing is known'],
])('%s among %j means %s: %s', (word, known, meant, _why) => {
  expect(findNearest(word, known)).toBe(meant);
});

test('two swapped letters are one mistake, a letter that moved past another one is two', () => {
  expect(findNearest('abc', ['acb'])).toBe('acb');
  expect(findNearest('abc', ['acx'])).toBeUndefined();
  expect(findNearest('abc', ['axb'])).toBeUndefined();
  // A short word may have one mistake, a longer one more.
  expect(findNearest('ps', ['pz'])).toBe('pz');
  expect(findNearest('kubernatas', ['kubernetes'])).toBe('kubernetes');
});
