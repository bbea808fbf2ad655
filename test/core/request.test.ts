import { describe, expect, test } from 'vitest';
import { describeRefusal } from '../../src/core/refusal.ts';
import { rejoinInput } from '../../src/core/rejoin.ts';
import { requireShown, revisionOf } from '../../src/core/request-revision.ts';
import { wordRequest } from '../../src/core/request-words.ts';
import { isAnsweredBy } from '../../src/core/request.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import { readComment } from '../../src/core/review.ts';
import type { MemberRecord } from '../../src/core/state.ts';
import { teamOf } from './stage.ts';

test.each([
  ['shutdown', 'ann', true],
  ['shutdown', 'bob', false],
  ['review', 'ann', true],
  ['plan', 'lead', true],
  ['plan', 'ann', false],
  ['budget', 'lead', false],
  ['budget', undefined, false],
] as const)('a request of the kind %s about ann is answered by %s: %s', (kind, memberId, is) => {
  expect(isAnsweredBy({ kind, memberId: 'ann' }, { memberId, leadId: 'lead' })).toBe(is);
});

test('nobody judges its own plan', () => {
  expect(isAnsweredBy({ kind: 'plan', memberId: 'lead' }, { memberId: 'lead', leadId: 'lead' })).toBe(false);
});

test.each([
  ['permission', undefined, 'Permission needed'],
  ['review', undefined, 'A person is needed'],
  ['gate', undefined, 'Rejected work'],
  ['gate', { refused: true }, 'Refused by the model'],
  ['gate', { conflicted: true }, 'Repeated conflicts'],
] as const)('a request of the kind %s with %j is called %s', (kind, detail, words) => {
  expect(wordRequest({ kind, detail })).toBe(words);
});

test('an answer counts only for what was shown; requests of earlier versions had no revision', () => {
  const request = { id: 'r1', kind: 'hang', revision: 'a-b' } as TeamRequest;
  requireShown(request, undefined);
  requireShown(request, 'a-b');
  expect(() => requireShown(request, 'c-d')).toThrow(
    'The hang request r1 is not the one that was shown (c-d, now a-b): look at it again, then answer',
  );
  expect(() => requireShown({ ...request, revision: undefined }, 'c-d')).toThrow('(c-d, now none)');
});

test('a person reads what the model said, and what the gate says', () => {
  expect(describeRefusal('I cannot', undefined)).toBe('Its answer: I cannot\nNo gate judged it.');
  expect(describeRefusal(undefined, 'red')).toBe('The gate does not accept it: red');
});

describe('a comment of a review', () => {
  test.each([
    ['src/a.ts:12: Why?', { path: 'src/a.ts', line: 12, text: 'Why?' }],
    ['a:b.ts:-3:gone\nfor good', { path: 'a:b.ts', line: 3, side: 'old', text: 'gone\nfor good' }],
    [
      { path: 'a', line: 1, text: 't' },
      { path: 'a', line: 1, text: 't' },
    ],
  ])('may be written as %j', (written, comment) => {
    expect(readComment(written)).toEqual(comment);
  });

  test('that names no line is refused', () => {
    expect(() => readComment('looks good')).toThrow('"looks good" is no comment: write src/a.ts:12: text');
  });
});

test('a member that is added again keeps what it is, but not what it waited for', () => {
  const team = teamOf();
  const agent = { kind: 'exec', command: ['true'] } as const;
  team.do('member.join', { name: 'ann', agent, prompt: 'Go', planApprovalRequired: true });
  const ann = (metadata?: object) => {
    team.as('ann', 'member.change', { memberId: 'ann', ...(metadata && { metadata: { ...metadata } }) });
    return rejoinInput(team.state.members.get('ann') as MemberRecord);
  };
  expect(ann()).toMatchObject({ name: 'ann', agent, prompt: 'Go', planApprovalRequired: true, status: 'spawning' });
  expect(ann({ waiting: { reason: 'a machine' } }).metadata).toBeUndefined();
  expect(ann({ color: 'red' }).metadata).toEqual({ color: 'red' });
  const approved = { ...(team.state.members.get('ann') as MemberRecord), planApproved: true, spawnPrompt: undefined };
  expect(rejoinInput(approved)).toMatchObject({ planApprovalRequired: false, prompt: '' });
});

test('a revision does not depend on the order of fields, but on everything else', () => {
  const revision = (detail: Record<string, unknown>) =>
    revisionOf({ id: 'r', kind: 'gate', memberId: 'ann', content: 'x', detail });
  const first = revision({ a: 1, b: { x: 1, y: 2, z: 3 }, c: null });
  expect(revision({ c: null, b: { z: 3, x: 1, y: 2 }, a: 1 })).toBe(first);
  expect(revision({ b: { y: 2, z: 3, x: 1 }, a: 1, c: null })).toBe(first);
  expect(revision({ a: 1, b: { x: 1, y: 2, z: 4 }, c: null })).not.toBe(first);
  // A list is no map of its numbers.
  expect(revision({ a: ['x'] })).not.toBe(revision({ a: { 0: 'x' } }));
});

test('a member that needed no plan needs none when it is added again', () => {
  const team = teamOf('ann');
  const ann = team.state.members.get('ann') as MemberRecord;
  const needs = (planApprovalRequired: boolean, planApproved: boolean) =>
    rejoinInput({ ...ann, planApprovalRequired, planApproved }).planApprovalRequired;
  expect([needs(false, false), needs(true, false), needs(true, true)]).toEqual([false, true, false]);
});
