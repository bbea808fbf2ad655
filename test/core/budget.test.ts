import { expect, test } from 'vitest';
import { budgetQuestions, isSameLimit } from '../../src/core/budget-questions.ts';
import { budgetUses, graceLeft, nextTimeLimit } from '../../src/core/budget-use.ts';
import { showAmount, showBudget, showGrant } from '../../src/core/budget-words.ts';
import { Budget, grantMore, grantOf, hasLimits, isRaised, withGrants } from '../../src/core/budget.ts';
import type { BudgetMeasure } from '../../src/core/budget.ts';
import { evolve } from '../../src/core/evolve.ts';
import type { RaiseRequestInput } from '../../src/core/request.ts';
import { createState } from '../../src/core/state.ts';
import { OVER_BUDGET } from '../../src/core/waiting.ts';
import { commit, WORK } from '../samples/work.ts';
import { Stage, teamOf } from './stage.ts';

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
  const uses = budgetUses(team.state, { memberId: 'ada' }, joined + 30 * MINUTE);
  expect(uses.map(({ of, what, used: spent, limit }) => [of, what, Math.round(spent), limit])).toEqual([
    ['member', 'turns', 3, 4],
    ['team', 'tokens', 600, 1_000],
    ['member', 'minutes', 30, 60],
    ['team', 'costUsd', 1, 10],
  ]);
  expect(budgetUses(team.state, { memberId: 'bob' }, joined).map(({ of }) => of)).toEqual(['team', 'team']);
});

test('an approval adds the first limit to what is used, however often, rounded for counts', () => {
  const first = grantMore({ budget: { costUsd: 5, turns: 10 } }, { what: 'costUsd', used: 5.25 });
  expect(first).toEqual({ budget: { costUsd: 10.25, turns: 10 }, granted: { costUsd: 5.25 } });
  const second = grantMore(first, { what: 'costUsd', used: 11 });
  expect(second).toEqual({ budget: { costUsd: 16, turns: 10 }, granted: { costUsd: 11 } });
  expect(grantMore({ budget: { tokens: 100 } }, { what: 'tokens', used: 120 }).budget).toEqual({ tokens: 220 });
});

test('a yes gives the limit without earlier grants, or all of a limit that was lowered below them', () => {
  expect(grantOf({ budget: { turns: 10 } }, 'turns')).toBe(10);
  expect(grantOf({ budget: { turns: 25 }, granted: { turns: 15 } }, 'turns')).toBe(10);
  expect(grantOf({ budget: { turns: 4 }, granted: { turns: 15 } }, 'turns')).toBe(4);
  expect([grantOf(undefined, 'turns'), grantOf({}, 'turns')]).toEqual([0, 0]);
  // What has no limit gets one of what is used, and all of it was granted.
  expect(grantMore({}, { what: 'turns', used: 3, grants: 2 })).toEqual({ budget: { turns: 5 }, granted: { turns: 5 } });
});

test('what people granted stays on top of the budget of a changed team file', () => {
  expect(withGrants({ turns: 10, costUsd: 5 }, { turns: 3 })).toEqual({ turns: 13, costUsd: 5 });
  expect(withGrants({ turns: 10 })).toEqual({ turns: 10 });
});

test('a measure without a limit limits nothing', () => {
  const team = teamOf();
  team.do('team.update', { budget: { turns: 2, tokens: undefined } });
  expect(budgetUses(team.state, {}, team.now)).toMatchObject([{ of: 'team', what: 'turns', limit: 2 }]);
  const none = createState('alpha');
  expect([budgetUses(none, { memberId: 'ada', taskId: '1' }, 0), nextTimeLimit(none, 0)]).toEqual([[], undefined]);
});

test('time runs only while an agent of the team is not stopped, or the member itself', () => {
  const team = teamOf();
  team.do('team.update', { budget: { minutes: 60 } });
  const agent = { kind: 'exec', command: ['true'] };
  team.do('member.join', { name: 'ada', agent, budget: { minutes: 10 } });
  const began = team.now;
  const minutes = (at: number): number[] =>
    budgetUses(team.state, { memberId: 'ada' }, at).map(({ used }) => Math.round(used));
  expect(minutes(began + 4 * MINUTE)).toEqual([4, 4]);
  team.pass(5 * MINUTE);
  team.do('member.leave', { memberId: 'ada' });
  const stopped = team.now;
  expect(minutes(stopped + 60 * MINUTE)).toEqual([5, 5]);
  expect(nextTimeLimit(team.state, stopped)).toBeUndefined();
  team.pass(60 * MINUTE);
  team.do('member.join', { name: 'ada', agent, budget: { minutes: 10 } });
  expect(minutes(team.now + 2 * MINUTE)).toEqual([7, 7]);
  // 80 % of its ten minutes.
  expect(nextTimeLimit(team.state, team.now)).toBeGreaterThanOrEqual(team.now + 2.9 * MINUTE);
});

test('who looks whenever a time limit is next sees that it is reached, whatever its fraction of a minute', () => {
  const agent = { kind: 'exec', command: ['true'] };
  for (let ms = 121; ms < 200; ms++) {
    const team = teamOf();
    // As after a yes: what was used, and as much as at first.
    team.do('member.join', { name: 'ada', agent, budget: { minutes: ms / MINUTE + 0.002 } });
    let looked = team.now;
    for (let at: number | undefined = looked; at !== undefined; at = nextTimeLimit(team.state, at)) looked = at;
    expect(budgetQuestions(team.state, looked), `${ms} ms`).toHaveLength(1);
  }
});

test('amounts are shown in a unit in which they are not zero', () => {
  const shown = [30, 30_000, 90_000, 30 * MINUTE, 150 * MINUTE].map((ms) => showAmount('minutes', ms / MINUTE));
  expect(shown).toEqual(['30 ms', '30 seconds', '90 seconds', '30 minutes', '2.5 hours']);
  expect([0.004, 0.5, 12].map((usd) => showAmount('costUsd', usd))).toEqual(['$0.004', '$0.50', '$12.00']);
  expect([0.1, 0.09].map((usd) => showAmount('costUsd', usd))).toEqual(['$0.10', '$0.09']);
  expect([2, 119, 120].map((minutes) => showAmount('minutes', minutes))).toEqual([
    '2 minutes',
    '119 minutes',
    '2 hours',
  ]);
  expect([1_999, 2_000].map((ms) => showAmount('minutes', ms / MINUTE))).toEqual(['1999 ms', '2 seconds']);
  expect(showGrant({ what: 'turns', grants: 1 })).toBe('1 turn more');
  for (const vague of [undefined, { grants: 1 }, { what: 'turns' }, { what: 'cakes', grants: 1 }]) {
    expect(showGrant(vague)).toBeUndefined();
  }
  expect(showBudget({ turns: 3, costUsd: 1.5, tokens: undefined })).toBe('3 turns, $1.50');
});

test('a used-up budget is asked about once, and again after a person brought the member up again', () => {
  const team = teamOf();
  const agent = { kind: 'exec', command: ['true'] } as const;
  team.do('team.update', { budget: { turns: 1 } });
  for (const name of ['ada', 'bob']) team.do('member.join', { name, agent });
  team.do('usage.record', { memberId: 'ada', usage: { turns: 1 } });
  const asked = () => budgetQuestions(team.state, team.now);
  const raise = (): string => {
    const [question] = asked();
    team.as('@system', 'request.raise', question as RaiseRequestInput);
    // Another daemon noticed it at the same time.
    expect(team.as('@system', 'request.raise', question as RaiseRequestInput)).toEqual([]);
    return [...team.state.requests.keys()].at(-1) ?? '';
  };
  expect(asked()).toMatchObject([{ memberId: 'ada', detail: { of: 'team', what: 'turns', grants: 1 } }]);
  raise();
  expect(asked()).toEqual([]);
  // The question ends with its member, and the other one is still there.
  team.do('member.leave', { memberId: 'ada' });
  expect(asked()).toMatchObject([{ memberId: 'bob' }]);
  team.as('@user', 'request.answer', { requestId: raise(), approve: false });
  expect(asked()).toEqual([]);
  team.do('member.join', { name: 'ada', agent });
  const id = raise();
  team.as('@user', 'request.answer', { requestId: id, approve: true });
  expect(team.state.team).toMatchObject({ budget: { turns: 2 } });
  expect(asked()).toEqual([]);
  // A larger limit, from whoever may set it, settles the question.
  team.do('usage.record', { memberId: 'bob', usage: { turns: 1 } });
  const last = raise();
  team.as('@user', 'team.update', { budget: { turns: 5 } });
  expect(team.state.requests.get(last)?.status).toBe('withdrawn');
});

test('a person may give another amount than the request offers; without one, exactly what it offers', () => {
  const team = teamOf();
  const agent = { kind: 'exec', command: ['true'] } as const;
  team.do('member.join', { name: 'ada', agent, budget: { costUsd: 5 } });
  team.do('usage.record', { memberId: 'ada', usage: { costUsd: 5.5 } });
  const raise = (): string => {
    team.as('@system', 'request.raise', budgetQuestions(team.state, team.now)[0] as RaiseRequestInput);
    return [...team.state.requests.keys()].at(-1) ?? '';
  };
  const requestId = raise();
  expect(team.refuse('@user', 'request.answer', { requestId, approve: false, grants: 6 }).code).toBe('invalid');
  expect(team.refuse('@user', 'request.answer', { requestId, approve: true, grants: 1e10 }).code).toBe('invalid');
  team.as('@user', 'request.answer', { requestId, approve: true, grants: 6 });
  expect(team.state.members.get('ada')).toMatchObject({ budget: { costUsd: 11.5 }, granted: { costUsd: 6.5 } });
  expect(team.state.requests.get(requestId)).toMatchObject({ status: 'approved', grants: 6 });
  team.do('usage.record', { memberId: 'ada', usage: { costUsd: 6 } });
  const second = raise();
  team.as('@user', 'request.answer', { requestId: second, approve: true });
  expect(team.state.members.get('ada')?.budget).toEqual({ costUsd: 16.5 });
  expect(team.state.requests.get(second)).toMatchObject({ grants: 5 });
  team.do('member.join', { name: 'bob', agent, budget: { turns: 1 } });
  team.do('usage.record', { memberId: 'bob', usage: { turns: 1 } });
  expect(team.refuse('@user', 'request.answer', { requestId: raise(), approve: true, grants: 1.5 })).toMatchObject({
    code: 'invalid',
    message: 'grants: turns are whole numbers',
  });
});

test('more of anything, or dropping a bound, counts as raising a budget', () => {
  expect(isRaised({ turns: 5 }, { turns: 6 })).toBe(true);
  expect(isRaised({ turns: 5 }, {})).toBe(true);
  expect(isRaised({ turns: 5 }, { turns: 4, costUsd: 1 })).toBe(false);
  expect(isRaised(undefined, { turns: 5 })).toBe(false);
  for (const what of ['tokens', 'costUsd', 'minutes'] as const) {
    expect(isRaised({ [what]: 5 }, { [what]: 6 })).toBe(true);
  }
  expect([hasLimits({ turns: undefined }), hasLimits({ turns: 1 }), hasLimits(undefined)]).toEqual([
    false,
    true,
    false,
  ]);
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

test('a running turn has the grace, or the time until a tenth more is used; without a limit that is reached it has no end', () => {
  const use = (what: BudgetMeasure, used: number, limit: number) =>
    ({ of: 'team', what, used, limit, share: used / limit }) as const;
  expect(graceLeft([], 1_000)).toBeUndefined();
  expect(graceLeft([use('tokens', 99, 100)], 1_000)).toBeUndefined();
  expect(graceLeft([use('tokens', 100, 100), use('costUsd', 1, 2)], 1_000)).toBe(1_000);
  expect(graceLeft([use('turns', 11, 10)], 1_000)).toBe(0);
  // 6 s of 6 s: until 6.6 s.
  expect(graceLeft([use('minutes', 0.1, 0.1)], 120_000)).toBeCloseTo(600);
  expect(graceLeft([use('minutes', 60, 60)], 120_000)).toBe(120_000);
  expect(graceLeft([use('tokens', 100, 100), use('minutes', 0.1, 0.1)], 120_000)).toBeCloseTo(600);
});

test('the question says by whom and on what most was spent', () => {
  const team = teamOf();
  const agent = { kind: 'exec', command: ['true'] } as const;
  team.do('team.update', { budget: { costUsd: 10 } });
  for (const name of ['ada', 'bob', 'cy', 'dan']) team.do('member.join', { name, agent });
  team.do('task.create', { title: 'Parse' });
  team.as('ada', 'task.claim', { taskId: '1' });
  team.do('usage.record', { memberId: 'ada', taskId: '1', usage: { costUsd: 6 } });
  team.do('usage.record', { memberId: 'bob', usage: { costUsd: 3 } });
  team.do('usage.record', { memberId: 'cy', usage: { costUsd: 0.5 } });
  team.do('usage.record', { memberId: 'dan', usage: { costUsd: 1 } });
  const [question] = budgetQuestions(team.state, team.now);
  expect(question?.content).toContain(
    'The budget of the team: $10.50 of $10.00 is used. Most of it by ada ($6.00), bob ($3.00), dan ($1.00); ' +
      'on task #1 "Parse" ($6.00). Yes allows $10.00 more.',
  );
});

test('the question about the budget of a member names its own tasks', () => {
  const team = teamOf('bob');
  team.do('member.join', { name: 'ada', budget: { turns: 2 } });
  for (const [name, title] of [
    ['ada', 'Parse'],
    ['bob', 'Print'],
  ] as const) {
    const taskId = team.task({ title });
    team.as(name, 'task.claim', { taskId });
    team.do('usage.record', { memberId: name, taskId, usage: { turns: 2 } });
  }
  expect(budgetQuestions(team.state, team.now)).toEqual([
    {
      kind: 'budget',
      memberId: 'ada',
      content:
        'The budget of ada: 2 turns of 2 turns is used. Most of it on task #1 "Parse" (2 turns). Yes allows 2 turns more. ' +
        'Until then no new turn begins, and turns that run are interrupted after a short time.',
      detail: { of: 'member', what: 'turns', used: 2, limit: 2, grants: 2 },
    },
  ]);
  team.as('@user', 'team.close', { force: true });
  expect(budgetQuestions(team.state, team.now)).toEqual([]);
});

test('two questions are about one limit if owner and measure are the same', () => {
  const about = (of: string, what: string, whose: { memberId?: string; taskId?: string } = {}) =>
    ({ kind: 'budget', memberId: 'ada', ...whose, detail: { of, what } }) as const;
  expect(isSameLimit(about('team', 'turns'), about('team', 'turns', { memberId: 'bob' }))).toBe(true);
  expect(isSameLimit(about('team', 'turns'), about('team', 'tokens'))).toBe(false);
  expect(isSameLimit(about('team', 'turns'), about('member', 'turns'))).toBe(false);
  expect(isSameLimit(about('member', 'turns'), about('member', 'turns', { taskId: '1' }))).toBe(true);
  expect(isSameLimit(about('member', 'turns'), about('member', 'turns', { memberId: 'bob' }))).toBe(false);
  expect(isSameLimit(about('task', 'turns', { taskId: '1' }), about('task', 'turns', { taskId: '2' }))).toBe(false);
  expect(isSameLimit({ ...about('team', 'turns'), kind: 'gate' }, about('team', 'turns'))).toBe(false);
  expect(isSameLimit(about('team', 'turns'), { ...about('team', 'turns'), kind: 'gate' })).toBe(false);
  const vague = { ...about('team', 'turns'), detail: undefined };
  expect(isSameLimit(vague, about('team', 'turns'))).toBe(false);
  expect(isSameLimit(about('team', 'turns'), vague)).toBe(false);
  // Two that do not say differ only by their member.
  expect(isSameLimit(vague, vague)).toBe(true);
  expect(isSameLimit(vague, { ...vague, memberId: 'bob' })).toBe(false);
});

test('what all holders used for a task counts, and its time stands still while nobody works on it', () => {
  const team = teamOf();
  for (const name of ['ada', 'bob']) team.do('member.join', { name });
  team.do('task.create', { title: 'Think', budget: { turns: 4, minutes: 60 } });
  const uses = () =>
    budgetUses(team.state, { taskId: '1' }, team.now).map(({ what, used }) => [what, Math.round(used)]);
  team.as('ada', 'task.claim', {});
  team.do('usage.record', { memberId: 'ada', taskId: '1', usage: { turns: 1 } });
  team.pass(10 * MINUTE);
  team.as('ada', 'request.raise', { kind: 'permission', memberId: 'ada', taskId: '1', content: 'May I?' });
  const asked = [...team.state.requests.keys()][0] ?? '';
  expect(nextTimeLimit(team.state, team.now)).toBeUndefined();
  team.pass(10 * MINUTE);
  team.as('@user', 'request.answer', { requestId: asked, approve: true });
  expect(uses()).toEqual([
    ['turns', 1],
    ['minutes', 10],
  ]);
  team.as('ada', 'task.release', { taskId: '1' });
  team.pass(10 * MINUTE);
  team.as('bob', 'task.claim', {});
  team.do('usage.record', { memberId: 'bob', taskId: '1', usage: { turns: 1 } });
  // 80 % of an hour, less ten minutes.
  const next = nextTimeLimit(team.state, team.now) ?? 0;
  expect(Math.round((next - team.now) / MINUTE)).toBe(38);
  team.pass(5 * MINUTE);
  expect(uses()).toEqual([
    ['turns', 2],
    ['minutes', 15],
  ]);
});

/** A task of ada with a used-up budget, and the question about it. */
function spentTask() {
  const team = teamOf();
  team.do('member.join', { name: 'ada' });
  team.do('task.create', { title: 'Think', budget: { tokens: 100 } });
  team.as('ada', 'task.claim', {});
  team.do('usage.record', { memberId: 'ada', taskId: '1', usage: { outputTokens: 105 } });
  const [question] = budgetQuestions(team.state, team.now);
  team.as('@system', 'request.raise', question as RaiseRequestInput);
  const requestId = [...team.state.requests.keys()].at(-1) ?? '';
  return { team, question, requestId, task: () => team.state.tasks.get('1') };
}

test('a person is asked about the used-up budget of a task once; a yes gives as much again', () => {
  const { team, question, requestId, task } = spentTask();
  expect(question).toMatchObject({
    memberId: 'ada',
    taskId: '1',
    content: expect.stringMatching(/^The budget of task #1: 105 tokens of 100 tokens is used.*no ends the task/),
    detail: { of: 'task', what: 'tokens', grants: 100 },
  });
  expect(budgetQuestions(team.state, team.now)).toEqual([]);
  expect(team.as('@system', 'request.raise', question as RaiseRequestInput)).toEqual([]);
  team.as('@user', 'request.answer', { requestId, approve: true });
  expect(task()).toMatchObject({ status: 'in_progress', budget: { tokens: 205 }, granted: { tokens: 105 } });
  // A daemon that looked before the answer asks after it.
  expect(team.as('@system', 'request.raise', question as RaiseRequestInput)).toEqual([]);
});

test('a no about the budget of a task ends the task; its end or a new limit settles the question', () => {
  const refused = spentTask();
  refused.team.as('@user', 'request.answer', { requestId: refused.requestId, approve: false, feedback: 'Too much' });
  expect(refused.task()).toMatchObject({
    status: 'failed',
    failure: 'The budget of task #1: 105 tokens of 100 tokens is used. Too much',
  });
  const done = spentTask();
  done.team.as('ada', 'task.complete', { taskId: '1' });
  expect(done.team.state.requests.get(done.requestId)?.status).toBe('withdrawn');
  const raised = spentTask();
  raised.team.as('@user', 'task.update', { taskId: '1', budget: { tokens: 500 } });
  expect(raised.team.state.requests.get(raised.requestId)?.status).toBe('withdrawn');
});

test('a task whose turns are used up is asked about only if its holder needs another turn', () => {
  const team = teamOf();
  team.do('member.join', { name: 'ada' });
  team.do('task.create', { title: 'Think', budget: { turns: 1 } });
  team.as('ada', 'task.claim', {});
  team.do('usage.record', { memberId: 'ada', taskId: '1', usage: { turns: 1 } });
  expect(budgetQuestions(team.state, team.now)).toEqual([]);
  team.as('ada', 'member.change', { memberId: 'ada', metadata: { waiting: { reason: OVER_BUDGET } } });
  expect(budgetQuestions(team.state, team.now)).toMatchObject([{ taskId: '1', detail: { of: 'task', what: 'turns' } }]);
});

const handedIn = {
  memberId: 'ada',
  epoch: 1,
  base: commit(1),
  commit: commit(2),
  files: 1,
  added: 1,
  removed: 0,
  paths: ['a.txt'],
};

test('nobody is asked about the budget of a task whose work waits to land, also without its holder', () => {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', work: WORK });
  team.do('member.join', { name: 'ada', agent: { kind: 'exec', command: ['true'] } });
  team.do('task.create', { title: 'Think', budget: { tokens: 100 } });
  team.as('ada', 'task.claim', {});
  team.do('usage.record', { memberId: 'ada', taskId: '1', usage: { outputTokens: 105 } });
  expect(budgetQuestions(team.state, team.now)).toHaveLength(1);
  team.as('ada', 'work.submit', { taskId: '1', ...handedIn });
  expect(budgetQuestions(team.state, team.now)).toEqual([]);
  team.do('member.leave', { memberId: 'ada' });
  expect(team.state.tasks.get('1')).toMatchObject({ status: 'in_progress', assigneeId: 'ada' });
  expect(budgetQuestions(team.state, team.now)).toEqual([]);
});

test('only a person raises the budget of a task; the lead and its creator may lower it', () => {
  const team = teamOf();
  for (const name of ['ada', 'bob']) team.do('member.join', { name });
  team.as('ada', 'task.create', { title: 'Think', budget: { turns: 5 } });
  expect(team.refuse('lead', 'task.update', { taskId: '1', budget: { turns: 6 } }).code).toBe('not_allowed');
  expect(team.refuse('ada', 'task.update', { taskId: '1', budget: {} }).code).toBe('not_allowed');
  expect(team.refuse('bob', 'task.update', { taskId: '1', budget: { turns: 4 } }).code).toBe('not_allowed');
  team.as('ada', 'task.update', { taskId: '1', budget: { turns: 4 } });
  team.as('lead', 'task.update', { taskId: '1', budget: { turns: 3 } });
  team.as('@user', 'task.update', { taskId: '1', budget: {} });
  expect(team.state.tasks.get('1')?.budget).toBeUndefined();
});

test('a limit that was granted as a whole is given again', () => {
  expect(grantOf({ budget: { turns: 15 }, granted: { turns: 15 } }, 'turns')).toBe(15);
});

test('more of what is counted is a whole number, more of what is measured is not', () => {
  const more = (what: BudgetMeasure) => grantMore({}, { what, used: 1.25, grants: 2 }).budget[what];
  expect((['tokens', 'turns', 'minutes', 'costUsd'] as const).map(more)).toEqual([4, 4, 3.25, 3.25]);
});

test('only minutes shorten the time in which a turn may end', () => {
  const use = (what: BudgetMeasure) => [{ of: 'member', what, used: 100, limit: 100, share: 1 } as const];
  const grace = 60 * MINUTE;
  expect(graceLeft(use('turns'), grace)).toBe(grace);
  expect(graceLeft(use('minutes'), grace)).toBeCloseTo(10 * MINUTE);
});

test('the time of a team alone is looked at when it reaches its warning', () => {
  const team = teamOf();
  team.do('team.update', { budget: { minutes: 100 } });
  team.do('member.join', { name: 'ada', agent: { kind: 'exec', command: ['true'] } });
  expect(nextTimeLimit(team.state, team.now)).toBe(team.now + 80 * MINUTE);
  expect(nextTimeLimit(team.state, team.now + 80 * MINUTE)).toBe(team.now + 100 * MINUTE);
});

test('a question about something else does not stand for one about a budget', () => {
  const team = teamOf();
  const agent = { kind: 'exec', command: ['true'] } as const;
  team.do('team.update', { budget: { turns: 1, tokens: 10 } });
  team.do('member.join', { name: 'ada', agent });
  team.as('ada', 'request.raise', { kind: 'permission', memberId: 'ada', content: 'May I?' });
  team.do('usage.record', { memberId: 'ada', usage: { turns: 1, inputTokens: 10 } });
  const [first, second, ...others] = budgetQuestions(team.state, team.now);
  expect([first?.detail?.['what'], second?.detail?.['what'], others]).toEqual(['tokens', 'turns', []]);
  expect(first).not.toHaveProperty('taskId');
  team.as('@system', 'request.raise', first as RaiseRequestInput);
  expect(budgetQuestions(team.state, team.now).map(({ detail }) => detail?.['what'])).toEqual(['turns']);
});

test('the question about a budget names the largest spenders, and nobody who spent nothing', () => {
  const team = teamOf('eve');
  const agent = { kind: 'exec', command: ['true'] } as const;
  team.do('team.update', { budget: { tokens: 100 } });
  for (const [at, name] of ['ada', 'bob', 'cyd', 'dan'].entries()) {
    team.do('member.join', { name, agent, ...(name === 'cyd' && { budget: { tokens: 50 } }) });
    team.task({ title: `of ${name}` });
    team.claimNext(name);
    if (name === 'dan') continue;
    const usage = { inputTokens: [20, 30, 50][at] ?? 0 };
    team.do('usage.record', { memberId: name, taskId: String(at + 1), usage });
  }
  const contents = budgetQuestions(team.state, team.now).map(({ content }) => content);
  expect(contents).toEqual([
    expect.stringContaining(
      'Most of it by cyd (50 tokens), bob (30 tokens), ada (20 tokens); ' +
        'on task #3 "of cyd" (50 tokens), task #2 "of bob" (30 tokens), task #1 "of ada" (20 tokens). Yes',
    ),
    expect.stringContaining('. Most of it on task #3 "of cyd" (50 tokens). Yes'),
  ]);
});

test('time is spent by those that Troupe runs', () => {
  const team = teamOf('eve');
  team.do('team.update', { budget: { minutes: 10 } });
  team.do('member.join', { name: 'ada', agent: { kind: 'exec', command: ['true'] } });
  const [question] = budgetQuestions(team.state, team.now + 10 * MINUTE);
  expect(question?.content).toContain('. Most of it by ada (10 minutes). Yes');
});

test('who spent nothing is not named', () => {
  const team = teamOf('eve');
  const agent = { kind: 'exec', command: ['true'] } as const;
  team.do('team.update', { budget: { tokens: 100 } });
  for (const name of ['ada', 'bob']) {
    team.do('member.join', { name, agent });
    team.task({ title: `of ${name}` });
    team.claimNext(name);
  }
  team.do('usage.record', { memberId: 'ada', taskId: '1', usage: { inputTokens: 100 } });
  team.do('usage.record', { memberId: 'bob', taskId: '2', usage: { turns: 1 } });
  const [question] = budgetQuestions(team.state, team.now);
  expect(question?.content).toContain('. Most of it by ada (100 tokens); on task #1 "of ada" (100 tokens). Yes');
});

test('only a team that is open asks about budgets', () => {
  expect(budgetQuestions(createState('alpha'), 0)).toEqual([]);
  const team = teamOf();
  team.do('member.join', { name: 'ada', budget: { turns: 1 } });
  team.do('usage.record', { memberId: 'ada', usage: { turns: 1 } });
  expect(budgetQuestions(team.state, team.now)).toMatchObject([
    {
      content:
        'The budget of ada: 1 turn of 1 turn is used. Yes allows 1 turn more. ' +
        'Until then no new turn begins, and turns that run are interrupted after a short time.',
    },
  ]);
  team.as('@user', 'team.update', { status: 'shutting-down' });
  expect(budgetQuestions(team.state, team.now)).toEqual([]);
});

test('each used-up limit of a task is a question of its own, and the budget of the team another one', () => {
  const team = teamOf();
  team.do('team.update', { budget: { tokens: 100 } });
  team.do('member.join', { name: 'ada', agent: { kind: 'exec', command: ['true'] } });
  team.task({ title: 'Think', budget: { tokens: 100, costUsd: 1, turns: 9 } });
  team.claimNext('ada');
  team.do('usage.record', { memberId: 'ada', taskId: '1', usage: { inputTokens: 100, costUsd: 2 } });
  const asked = () => budgetQuestions(team.state, team.now);
  expect(asked().map(({ detail }) => [detail?.['of'], detail?.['what']])).toEqual([
    ['team', 'tokens'],
    ['task', 'costUsd'],
    ['task', 'tokens'],
  ]);
  expect(asked()[1]?.content).toBe(
    'The budget of task #1: $2.00 of $1.00 is used. The task is "Think", held by ada. ' +
      'Yes allows $1.00 more, no ends the task. ' +
      'Until then no new turn begins, and turns that run are interrupted after a short time.',
  );
  team.as('@system', 'request.raise', asked()[1] as RaiseRequestInput);
  // Other questions of Troupe do not stand for it, whatever they say.
  const detail = { of: 'team', what: 'tokens' };
  team.as('@system', 'request.raise', { kind: 'hang', memberId: 'ada', taskId: '1', content: 'x', detail });
  expect(asked().map(({ detail: about }) => about?.['what'])).toEqual(['tokens', 'tokens']);
  // As journals of other programs may say it: Troupe itself gives the task back, too.
  evolve(team.state, { type: 'teammate:stopped', at: team.now, by: '@system', memberId: 'ada' });
  expect(asked()).toEqual([]);
});

test('a no about a limit does not count for a larger one', () => {
  const team = teamOf();
  team.do('member.join', { name: 'ada', budget: { turns: 1 } });
  team.do('usage.record', { memberId: 'ada', usage: { turns: 3 } });
  const asked = () => budgetQuestions(team.state, team.now);
  team.as('@system', 'request.raise', asked()[0] as RaiseRequestInput);
  const [requestId = ''] = team.state.requests.keys();
  team.as('@user', 'request.answer', { requestId, approve: false });
  expect(asked()).toEqual([]);
  team.as('@user', 'member.change', { memberId: 'ada', budget: { turns: 2 } });
  expect(asked()).toHaveLength(1);
});

test('no time runs for a task that nobody holds', () => {
  const team = teamOf('ada');
  team.task({ budget: { minutes: 10 }, assigneeId: 'ada' });
  expect(nextTimeLimit(team.state, team.now)).toBeUndefined();
  team.claimNext('ada');
  expect(nextTimeLimit(team.state, team.now)).toBe(team.now + 8 * MINUTE);
  team.as('ada', 'task.complete', { taskId: '1' });
  team.task();
  team.claimNext('ada');
  expect(nextTimeLimit(team.state, team.now)).toBeUndefined();
});

test('what was spent without an agent, or on a task that nobody holds now, is known by its member', () => {
  const team = teamOf('eve');
  team.do('team.update', { budget: { tokens: 100 } });
  team.do('member.join', { name: 'ada', agent: { kind: 'exec', command: ['true'] } });
  team.task({ title: 'Think' });
  team.claimNext('eve');
  team.do('usage.record', { memberId: 'eve', taskId: '1', usage: { inputTokens: 100 } });
  team.as('eve', 'task.release', { taskId: '1' });
  expect(budgetQuestions(team.state, team.now)[0]?.content).toContain('. Most of it by eve (100 tokens). Yes');
});
