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
