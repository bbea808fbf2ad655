import { expect, test } from 'vitest';
import { writeMoments } from '../../src/server/moments.ts';

const at = new Date('2026-02-03T04:05:06.789Z');
const later = new Date('2026-02-03T04:05:07Z');

test.each([
  { name: 'a record', value: { id: '1', createdAt: at, claimedAt: later, title: 'A', left: undefined } },
  { name: 'a list of records', value: [{ at }, { at: later }, { at }] },
  { name: 'moments further inside', value: { task: { at }, tasks: [{ at }] } },
  { name: 'a list of lists', value: [[{ at }], [], at.toISOString()] },
  { name: 'nothing', value: null },
  { name: 'a text', value: 'text' },
  { name: 'no moment', value: { at: new Date(Number.NaN) } },
  {
    name: 'keys that mean something elsewhere',
    value: JSON.parse('{"__proto__":{"at":1},"constructor":"x"}') as object,
  },
])('writes $name as JSON would', ({ value }) => {
  expect(JSON.stringify(writeMoments(value))).toBe(JSON.stringify(value));
});

test('does not change the record itself', () => {
  const task = { createdAt: at };
  writeMoments(task);
  expect(task.createdAt).toBe(at);
});
