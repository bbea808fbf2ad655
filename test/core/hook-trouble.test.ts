import { expect, test } from 'vitest';
import { hookTroubles, troubleKey, troublesTold } from '../../src/core/hook-trouble.ts';
import { feedbackOf } from '../../src/core/hook.ts';

const KEY = troubleKey('TaskCompleted', 'npm test');

test('the troubles of hooks are read from the metadata of their team, among other things', () => {
  expect(hookTroubles({ [KEY]: 'npm test failed', [`${KEY} 2`]: 7, other: 'text' })).toEqual(['npm test failed']);
  expect(hookTroubles(undefined)).toEqual([]);
});

test('a change of metadata tells of hooks that failed and of those that work again', () => {
  const changes = { [KEY]: null, [troubleKey('TaskCreated', 'lint')]: 'lint failed', other: null };
  expect(troublesTold(changes)).toEqual(['lint failed', 'The hook TaskCompleted npm test works again']);
  expect(troublesTold(undefined)).toEqual([]);
  // A command of any length makes a key that fits.
  expect(troubleKey('TaskCompleted', 'x'.repeat(9_000))).toHaveLength('hookTrouble TaskCompleted '.length + 200);
});

test('feedback has the end of each long output, without half a character', () => {
  expect(feedbackOf({ stderr: ' a \n', stdout: '' })).toBe('a');
  const long = `x😀${'y'.repeat(9_999)}`;
  expect(feedbackOf({ stderr: long, stdout: 'out' })).toBe(`…${'y'.repeat(9_999)}\n\nout`);
});
