import { expect, test } from 'vitest';
import { questionIn } from '../../src/core/question.ts';

test.each([
  ['Done. Shall I deploy it?', 'Shall I deploy it?'],
  ['I read all of it.\n\n**Which database do you want?**', 'Which database do you want?'],
  ['> 1. Keep the old API?\n', 'Keep the old API?'],
  ['どれにしますか？', 'どれにしますか？'],
  ['Why did it fail? The port was taken.', undefined],
  ['All tests pass.', undefined],
  ['', undefined],
])('the question at the end of %j is %j', (answer, question) => {
  expect(questionIn(answer)).toBe(question);
});

test('shows the end of a long sentence', () => {
  const asked = questionIn(`${'Shall I go on with this '.repeat(100)}now?`);
  expect(asked?.length).toBeLessThan(1_000);
  expect(asked).toMatch(/this now\?$/);
});
