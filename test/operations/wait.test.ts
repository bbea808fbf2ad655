import { describe, expect, test } from 'vitest';
import { nounOf } from '../../src/core/event.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { mattersToClaim, mattersToInbox } from '../../src/operations/wait.ts';

/** An event of this type about ann; only the fields that decide. */
function about(type: TeamEvent['type'], more: object = {}): TeamEvent {
  return { type, at: 0, by: '@system', memberId: 'ann', ...more } as unknown as TeamEvent;
}

describe('a call that waits', () => {
  const sent = about('message:sent', { memberId: undefined, copies: [{ id: 'm', toId: 'ann' }] });

  test.each([
    [sent, true, false],
    [about('message:read'), true, false],
    [about('teammate:idle'), true, false],
    [about('request:raised'), true, true],
    [about('plan:approved'), true, true],
    [about('team:updated'), true, true],
    [about('task:created'), false, false],
    [about('note:added'), false, false],
    [about('usage:recorded'), false, false],
  ])('for mail hears of what may be mail: %j', (event, forAnn, forBob) => {
    expect([mattersToInbox('ann')(event), mattersToInbox('bob')(event)]).toEqual([forAnn, forBob]);
  });

  test.each([
    ['task:created', true],
    ['task:completed', true],
    ['teammate:joined', true],
    ['team:closed', true],
    ['shutdown:requested', true],
    ['message:sent', false],
    ['note:added', false],
    ['usage:recorded', false],
  ] as const)('for a task hears of %s: %s', (type, is) => {
    expect(mattersToClaim(about(type))).toBe(is);
  });
});

test('the noun of an event is the first word of its name', () => {
  expect([nounOf(about('task:dependencies-added')), nounOf(about('team:closed'))]).toEqual(['task', 'team']);
});
