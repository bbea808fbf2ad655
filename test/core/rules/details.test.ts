// What no other test noticed when it was changed: found by mutants of these rules (proof/mutations/).
import { describe, expect, test } from 'vitest';
import { ACCOUNT_WARNING, warnedWindows } from '../../../src/core/account.ts';
import { budgetQuestions } from '../../../src/core/budget-questions.ts';
import { showGrant } from '../../../src/core/budget-words.ts';
import { showBytes } from '../../../src/core/bytes.ts';
import { paidAfterSending, pricesOf } from '../../../src/core/message-price.ts';
import type { RaiseRequestInput } from '../../../src/core/request.ts';
import { requirePriority } from '../../../src/core/rules/guard.ts';
import type { SharedTaskPriority } from '../../../src/core/task.ts';
import { requireMember } from '../../../src/core/view.ts';
import { Stage, teamOf } from '../stage.ts';

const agent = { kind: 'exec', command: ['true'] } as const;

describe('limits', () => {
  test('an agent keeps those of its team, not those that teams have as a rule', () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', messagesPerMinute: 5, restartsPerNight: 1 });
    expect(team.refuse('lead', 'team.update', { messagesPerMinute: 6 }).message).toContain('raise messagesPerMinute');
    expect(team.refuse('lead', 'team.update', { restartsPerNight: 2 }).message).toContain('raise restartsPerNight');
    team.do('team.update', { messagesPerMinute: 5, restartsPerNight: 1 });
    team.do('team.update', { messagesPerMinute: 4 });
    expect(team.refuse('lead', 'team.update', { messagesPerMinute: 5 }).code).toBe('not_allowed');
  });

  test('a debt as large as it can be is still owed; a larger one is that of a clock that was set back', () => {
    const { state } = teamOf('ann');
    const member = requireMember(state, 'ann');
    const { price, burst } = pricesOf(state);
    const paid = (owed: number): number => paidAfterSending(state, { ...member, sendsPaidAt: 1_000 + owed }, 1_000);
    expect([paid(burst), paid(burst + 1), paid(1), paid(0)]).toEqual([
      1_000 + burst + price,
      1_000 + price,
      1_001 + price,
      1_000 + price,
    ]);
  });

  test('a window is warned of once: when it reaches the warning, not when it was there before', () => {
    const from = (was: number, used: number): string[] =>
      warnedWindows([{ name: 'week', used: was }], [{ name: 'week', used }]);
    expect(from(ACCOUNT_WARNING - 0.01, ACCOUNT_WARNING)).toEqual(['week']);
    expect(from(ACCOUNT_WARNING, ACCOUNT_WARNING + 0.01)).toEqual([]);
    expect(from(0.1, 1)).toEqual([]);
  });
});

describe('a budget', () => {
  const raised = (team: Stage, of: string): string => {
    const question = budgetQuestions(team.state, team.now).find(({ detail }) => detail?.['of'] === of);
    team.as('@system', 'request.raise', question as RaiseRequestInput);
    return [...team.state.requests.keys()].at(-1) ?? '';
  };

  test('that is used up together with another one of the same measure is the one that gets more', () => {
    const team = teamOf();
    team.do('team.update', { budget: { turns: 2 } });
    team.do('member.join', { name: 'ada', agent, budget: { turns: 1 } });
    team.do('usage.record', { memberId: 'ada', usage: { turns: 3 } });
    const requestId = raised(team, 'team');
    team.as('@user', 'request.answer', { requestId, approve: true, grants: 4 });
    expect(team.state.team?.budget).toEqual({ turns: 7 });
    expect(requireMember(team.state, 'ada').budget).toEqual({ turns: 1 });
  });

  test('of a member that changes settles the question about it, and no other', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ada', agent, budget: { turns: 1, tokens: 5 } });
    team.do('usage.record', { memberId: 'ada', usage: { turns: 1 } });
    const requestId = raised(team, 'member');
    team.as('@user', 'member.change', { memberId: 'ada', budget: { turns: 1, tokens: 9 } });
    expect(team.state.requests.get(requestId)?.status).toBe('pending');
    team.as('@user', 'member.change', { memberId: 'ada', budget: { turns: 2, tokens: 9 } });
    expect(team.state.requests.get(requestId)?.status).toBe('withdrawn');
  });

  test.each([
    ['tokens', 1_000],
    ['costUsd', 2],
    ['turns', 3],
    ['minutes', 4],
  ])('of %s: how much more a yes gives is said', (what, grants) => {
    expect(showGrant({ what, grants })).toMatch(/^\S.* more$/);
    expect(showGrant({ what: 'wishes', grants })).toBeUndefined();
  });
});

describe('a member', () => {
  test('is no team without a team file', () => {
    const team = teamOf();
    const refusal = team.refuse('@user', 'member.join', { name: 'crew', agent: { kind: 'team' } });
    expect(refusal).toMatchObject({ code: 'invalid', message: expect.stringContaining('Only a team file') as string });
  });

  test('that ran twice ran as long as both times together', () => {
    const team = teamOf();
    const run = (ms: number): void => {
      team.do('member.join', { name: 'ada', agent });
      team.pass(ms - 1_000);
      team.as('@system', 'member.leave', { memberId: 'ada', returning: true });
    };
    run(5_000);
    expect(requireMember(team.state, 'ada').ranMs).toBe(5_000);
    run(7_000);
    expect(requireMember(team.state, 'ada').ranMs).toBe(12_000);
  });

  test('of a closed team that does not exist: the nearest name is said', () => {
    const team = teamOf('worker');
    team.do('member.leave', { memberId: 'worker' });
    team.as('@user', 'team.close', {});
    expect(() => requireMember(team.state, 'worke')).toThrow(/it has worker, lead \(stopped\); did you mean worker\?$/);
  });

  test('hears the choice and the words of the person who answered', () => {
    const team = teamOf('ada');
    team.as('ada', 'request.raise', {
      kind: 'question',
      memberId: 'ada',
      content: 'Which one?',
      question: { choices: ['left', 'right'], freeText: true },
    });
    const requestId = [...team.state.requests.keys()].at(-1) ?? '';
    team.as('@user', 'request.answer', { requestId, approve: true, choice: 'left', feedback: 'and slowly' });
    const sent = team.events.findLast(({ type }) => type === 'message:sent');
    expect(sent).toMatchObject({ content: expect.stringMatching(/left\nand slowly$/) as string });
  });
});

test('a priority that cannot be ordered is named, and so is one that is missing', () => {
  const refuse = (priority: unknown) => () => requirePriority(priority as SharedTaskPriority);
  expect(refuse(undefined)).toThrow(/^A task without a priority cannot be ordered: give /);
  expect(refuse('soon')).toThrow(/^"soon" as a priority cannot be ordered: give /);
});

test('sizes are said in the largest unit that they reach', () => {
  const sizes = [1, 1024, 1024 ** 2 - 1, 1024 ** 2, 1024 ** 3 - 1, 1024 ** 3, 3 * 1024 ** 3];
  expect(sizes.map(showBytes)).toEqual(['1 KB', '1 KB', '1024 KB', '1.0 MB', '1024.0 MB', '1.0 GB', '3.0 GB']);
});
