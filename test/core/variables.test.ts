import { expect, test } from 'vitest';
import { findDifferent, pickVariables, replaceVariables } from '../../src/core/variables.ts';

const OURS = { LC_ALL: 'C', LC_TIME: 'de', LC: 'x', PATH: '/bin', HOME: undefined };

test('variables are picked by name or by a beginning, if they are set', () => {
  expect(pickVariables(OURS, ['LC_*', 'PATH', 'HOME'])).toEqual({ LC_ALL: 'C', LC_TIME: 'de', PATH: '/bin' });
});

test('what fits comes from the other environment alone', () => {
  expect(replaceVariables(OURS, ['LC_*'], { LC_ALL: 'en', PATH: '/usr/bin' })).toEqual({
    LC: 'x',
    PATH: '/bin',
    HOME: undefined,
    LC_ALL: 'en',
  });
});

test('a variable is replaced if any pattern fits', () => {
  expect(replaceVariables(OURS, ['PATH', 'LC_*', 'NONE'], { NONE: '1' })).toEqual({
    LC: 'x',
    HOME: undefined,
    NONE: '1',
  });
});

test('environments differ in what programs notice, not in the terminal', () => {
  const before = { PATH: '/bin', TERM: 'xterm', A: '1', SAME: 's' };
  expect(findDifferent(before, { PATH: '/usr/bin', TERM: 'dumb', B: '2', SAME: 's' })).toEqual(['A', 'B', 'PATH']);
});
