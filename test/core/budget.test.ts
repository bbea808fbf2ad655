import { expect, test } from 'vitest';
import { budgetUses } from '../../src/core/budget-use.ts';
import { Budget, isRaised, raiseBudget } from '../../src/core/budget.ts';
import { teamOf } from './stage.ts';

const MINUTE = 60_000;

test('the budgets of a member and its team are listed by how much is used, the fullest first', () => {
  const team = teamOf();
  team.do('team.update', { budget: { tokens: 1_000, costUsd: 10 } });
  team.do('member.join', { name: 'ada', budget: { turns: 4, minutes: 60 } });
  team.do('member.join', { name: 'bob' });
  const used = {
    inputTokens: 300,
    outputTokens: 100,
    cacheReadTokens: 9_000,
    cacheWriteTokens: 100,
    costUsd: 1,
    turns: 3,
  };
  team.do('usage.record', { memberId: 'ada', usage: used });
  team.do('usage.record', { memberId: 'bob', usage: { inputTokens: 100 } });
  const joined = team.state.members.get('ada')?.joinedAt.getTime() ?? 0;
  const uses = budgetUses(team.state, 'ada', joined + 30 * MINUTE);
  expect(uses.map(({ of, what, used: spent, limit }) => [of, what, Math.round(spent), limit])).toEqual([
    ['member', 'turns', 3, 4],
    ['team', 'tokens', 600, 1_000],
    ['member', 'minutes', 30, 60],
    ['team', 'costUsd', 1, 10],
  ]);
  expect(budgetUses(team.state, 'bob', joined).map(({ of }) => of)).toEqual(['team', 'team']);
});

test('an approval adds the budget again to what is used, rounded for counts', () => {
  expect(raiseBudget({ costUsd: 5, turns: 10 }, { what: 'costUsd', used: 5.25 })).toEqual({
    costUsd: 10.25,
    turns: 10,
  });
  expect(raiseBudget({ tokens: 100 }, { what: 'tokens', used: 120 })).toEqual({ tokens: 220 });
});

test('more of anything, or dropping a bound, counts as raising a budget', () => {
  expect(isRaised({ turns: 5 }, { turns: 6 })).toBe(true);
  expect(isRaised({ turns: 5 }, {})).toBe(true);
  expect(isRaised({ turns: 5 }, { turns: 4, costUsd: 1 })).toBe(false);
  expect(isRaised(undefined, { turns: 5 })).toBe(false);
});

test('only a person raises a budget; the lead may lower one', () => {
  const team = teamOf();
  team.do('team.update', { budget: { turns: 5 } });
  team.do('member.join', { name: 'ada', budget: { turns: 5 } });
  expect(team.refuse('lead', 'team.update', { budget: { turns: 6 } }).code).toBe('not_allowed');
  expect(team.refuse('ada', 'member.change', { memberId: 'ada', budget: { turns: 6 } }).code).toBe('not_allowed');
  expect(team.refuse('lead', 'member.change', { memberId: 'ada', budget: { turns: 6 } }).code).toBe('not_allowed');
  team.do('member.change', { memberId: 'ada', budget: { turns: 2 } });
  team.as('@user', 'member.change', { memberId: 'ada', budget: { turns: 9 } });
  expect(team.state.members.get('ada')?.budget).toEqual({ turns: 9 });
  expect(Budget.safeParse({ turns: 0 }).success).toBe(false);
});
