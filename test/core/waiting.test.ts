import { expect, test } from 'vitest';
import { isLost, silentSince, waitingOf, waitsForAccount, waitsOrSilent } from '../../src/core/waiting.ts';

const AT = new Date(2026, 0, 2, 3, 10).getTime();

test.each([
  [{ reason: 'a machine' }, 'a machine'],
  [{ reason: 'quiet hours', until: AT }, 'quiet hours until 03:10'],
  [{ reason: 'quiet hours' }, 'quiet hours'],
  [{ reason: 'limited', account: 'claude', since: AT - 1_000, until: AT, known: true }, 'limited until 03:10 (claude)'],
  [{ reason: 'overloaded', account: 'claude', until: AT }, 'overloaded, next try at 03:10 (claude)'],
  [{ reason: 'limited', account: 'claude' }, 'limited'],
  [{ reason: 'limited', until: AT }, 'limited'],
  [{ since: AT }, undefined],
  ['a text', undefined],
  [null, undefined],
])('a member that recorded %j waits for %s', (waiting, words) => {
  expect(waitingOf({ metadata: { waiting } })).toBe(words);
});

test.each([
  [{ reason: 'quiet', silentSince: 5 }, 5, 'silent'],
  [{ reason: 'quiet', silentSince: 'long ago' }, undefined, 'waits'],
  [{ reason: 'quiet' }, undefined, 'waits'],
  [null, undefined, 'waits'],
])('a member that recorded %j is silent since %s', (waiting, since, word) => {
  expect(silentSince({ metadata: { waiting } })).toBe(since);
  expect(waitsOrSilent({ metadata: { waiting } })).toBe(word);
});

test('the account that a member waits for is a name', () => {
  expect(waitsForAccount({ metadata: { waiting: { account: 'claude' } } })).toBe('claude');
  expect(waitsForAccount({ metadata: { waiting: { account: 7 } } })).toBeUndefined();
  expect(waitsForAccount({ metadata: { waiting: {} } })).toBeUndefined();
  expect(waitsForAccount({})).toBeUndefined();
});

test('a member is lost with the only machine that may run it', () => {
  const lost = { status: 'stopped', returning: true, host: 'h1', metadata: { waiting: { reason: 'its machine' } } };
  expect(isLost(lost)).toBe(true);
  expect(isLost({ ...lost, metadata: undefined })).toBe(false);
  expect(isLost({ ...lost, host: undefined })).toBe(false);
  expect(isLost({ ...lost, returning: undefined })).toBe(false);
  expect(isLost({ ...lost, status: 'idle' })).toBe(false);
});

test.each([['a text'], [null], [undefined], [{}]])(
  'a member that recorded %j waits for nothing that is known',
  (waiting) => {
    const member = { metadata: { waiting } };
    expect([waitingOf(member), silentSince(member), waitsForAccount(member)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  },
);
