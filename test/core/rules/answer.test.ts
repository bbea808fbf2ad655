import { describe, expect, test } from 'vitest';
import { budgetQuestions } from '../../../src/core/budget-questions.ts';
import type { RaiseRequestInput } from '../../../src/core/request.ts';
import { commit, WORK } from '../../samples/work.ts';
import { Stage, teamOf, types } from '../stage.ts';
import type { InputOf } from '../stage.ts';

/* What follows from the answer of a person, or from none in time. */

const EXEC = { kind: 'exec', command: ['true'] } as const;

const lastRequest = (team: Stage): string => [...team.state.requests.keys()].at(-1) ?? '';

function raise(team: Stage, input: InputOf<'request.raise'>): string {
  team.as('@system', 'request.raise', input);
  return lastRequest(team);
}

describe('an answer about a task that a gate keeps sending back', () => {
  /** Ann holds task 1, about which a person is asked. */
  function asked(detail?: InputOf<'request.raise'>['detail']): { team: Stage; requestId: string } {
    const team = teamOf('ann', 'bob');
    team.task();
    team.as('ann', 'task.claim', { taskId: '1' });
    const requestId = raise(team, { kind: 'gate', memberId: 'ann', taskId: '1', content: 'It is red.', detail });
    return { team, requestId };
  }

  test.each([
    ['with the result of the last try', { result: 'done' }, 'done'],
    ['without one', undefined, undefined],
  ])('that is a yes completes it %s', (_how, detail, result) => {
    const { team, requestId } = asked(detail);
    expect(types(team.as('@user', 'request.answer', { requestId, approve: true }))).toEqual([
      'request:answered',
      'task:completed',
    ]);
    expect(team.view('1')).toMatchObject({ status: 'completed', result });
  });

  test.each([
    ['Use the other parser.\nIt is faster.', 'sent back: Use the other parser.'],
    [undefined, 'sent back by a person'],
  ])('that is a no gives it back, with what the person wrote: %j', (feedback, reason) => {
    const { team, requestId } = asked();
    expect(team.as('@user', 'request.answer', { requestId, approve: false, feedback })).toMatchObject([
      { type: 'request:answered' },
      { type: 'task:released', taskId: '1', reason },
    ]);
    expect(team.view('1')).toMatchObject({ status: 'pending', feedback });
  });

  test('that did not come in time fails it', () => {
    const { team, requestId } = asked();
    team.as('@system', 'request.answer', { requestId, approve: false });
    expect(team.view('1')).toMatchObject({ status: 'failed', failure: 'It is red.\nNobody looked at it in time.' });
  });

  test('changes nothing if it was about an earlier attempt', () => {
    const { team, requestId } = asked({ epoch: 0 });
    expect(types(team.as('@user', 'request.answer', { requestId, approve: true }))).toEqual(['request:answered']);
    expect(team.view('1').status).toBe('in_progress');
  });

  test.each([
    ['about a task of another member', { memberId: 'bob', taskId: '1' }],
    ['about no task', { memberId: 'bob' }],
  ])('changes nothing if it was %s', (_what, about) => {
    const team = teamOf('ann', 'bob');
    team.task();
    team.as('ann', 'task.claim', { taskId: '1' });
    const requestId = raise(team, { kind: 'gate', ...about, content: 'x' });
    expect(types(team.as('@user', 'request.answer', { requestId, approve: true }))).toEqual(['request:answered']);
  });

  test('has no comments on lines: they are for work', () => {
    const { team, requestId } = asked();
    const comments = [{ path: 'a.ts', line: 1, text: 'why?' }];
    expect(team.refuse('@user', 'request.answer', { requestId, approve: false, comments })).toMatchObject({
      code: 'invalid',
      message: `Request ${requestId} is not about work: answer it with a text, not with comments`,
    });
    expect(team.refuse('@user', 'request.answer', { requestId, approve: true, commit: commit(2) })).toMatchObject({
      code: 'invalid',
      message: `Request ${requestId} is about no commit: leave it out`,
    });
  });

  test('gives no amount: that is for budgets', () => {
    const { team, requestId } = asked();
    expect(team.refuse('@user', 'request.answer', { requestId, approve: true, grants: 5 })).toMatchObject({
      code: 'invalid',
      message: `grants: request ${requestId} is not about a budget: leave it out`,
    });
  });

  test('lands the work of a member that works apart', () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', work: WORK });
    team.do('member.join', { name: 'ann', agent: EXEC });
    team.task();
    team.claimNext('ann');
    const requestId = raise(team, { kind: 'gate', memberId: 'ann', taskId: '1', content: 'It is red.' });
    const size = { files: 1, added: 1, removed: 0, paths: ['a'] };
    const work = { memberId: 'ann', epoch: 1, base: commit(1), commit: commit(2), ...size, onto: commit(1) };
    const events = team.as('@user', 'request.answer', {
      requestId,
      approve: true,
      work: { ...work, merged: commit(3) },
    });
    expect(types(events)).toEqual(['request:answered', 'work:submitted', 'work:landed', 'task:completed']);
  });
});

describe('an answer about a budget', () => {
  /** The budget of task 1, which ann holds in a workspace of its own, is used up. */
  function spent(): { team: Stage; requestId: string } {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', work: WORK });
    team.do('member.join', { name: 'ann', agent: EXEC });
    team.task({ budget: { tokens: 100 } });
    team.claimNext('ann');
    team.do('usage.record', { memberId: 'ann', taskId: '1', usage: { inputTokens: 105 } });
    return { team, requestId: raise(team, budgetQuestions(team.state, team.now)[0] as RaiseRequestInput) };
  }

  test.each([
    ['@user', 'No more was granted.'],
    ['@system', 'Nobody answered in time.'],
  ])('that is a no of %s ends the task', (by, why) => {
    const { team, requestId } = spent();
    team.as(by, 'request.answer', { requestId, approve: false });
    const failure = `The budget of task #1: 105 tokens of 100 tokens is used. ${why}`;
    expect(team.view('1')).toMatchObject({ status: 'failed', failure });
  });

  test('that is a no gives nothing, a yes what it offered', () => {
    const answered = (approve: boolean) => {
      const { team, requestId } = spent();
      const [event] = team.as('@user', 'request.answer', { requestId, approve });
      return [event, team.view('1').budget];
    };
    expect(answered(false)).toMatchObject([{ type: 'request:answered', grants: undefined }, { tokens: 100 }]);
    expect(answered(true)).toMatchObject([{ type: 'request:answered', grants: 100 }, { tokens: 205 }]);
  });

  test('that is a yes raises the limit that it names, not another one of the same owner', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann', agent: EXEC, budget: { turns: 1, tokens: 10 } });
    team.do('usage.record', { memberId: 'ann', usage: { turns: 3, inputTokens: 11 } });
    const asked = budgetQuestions(team.state, team.now);
    expect(asked.map(({ detail }) => detail?.['what'])).toEqual(['turns', 'tokens']);
    const ofTokens = raise(team, asked[1] as RaiseRequestInput);
    team.as('@user', 'request.answer', { requestId: ofTokens, approve: true });
    expect(team.state.members.get('ann')).toMatchObject({ budget: { turns: 1, tokens: 21 }, granted: { tokens: 11 } });
    // What was granted stays with the budget, and goes with it.
    team.as('ann', 'member.change', { memberId: 'ann', status: 'idle' });
    expect(team.state.members.get('ann')?.granted).toEqual({ tokens: 11 });
    team.as('@user', 'member.change', { memberId: 'ann', budget: { turns: 9 } });
    expect(team.state.members.get('ann')?.granted).toBeUndefined();
  });

  test('that is a yes to a question without an amount gives as much as at first', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann', agent: EXEC, budget: { turns: 2 } });
    team.do('usage.record', { memberId: 'ann', usage: { turns: 3 } });
    const [question] = budgetQuestions(team.state, team.now) as [RaiseRequestInput];
    const { grants: _, ...detail } = question.detail ?? {};
    for (const more of [{}, { grants: 'many' }]) {
      const requestId = raise(team, { ...question, detail: { ...detail, ...more } });
      team.as('@user', 'request.answer', { requestId, approve: true });
      expect(team.state.members.get('ann')?.budget).toEqual({ turns: 5 });
      team.as('@user', 'member.change', { memberId: 'ann', budget: { turns: 2 } });
    }
  });

  test('that is a no does not end a task whose work was handed in: that needs no more', () => {
    const { team, requestId } = spent();
    const size = { files: 1, added: 1, removed: 0, paths: ['a'] };
    const handedIn = { taskId: '1', memberId: 'ann', epoch: 1, base: commit(1), commit: commit(2), ...size };
    team.as('ann', 'work.submit', handedIn);
    expect(types(team.as('@user', 'request.answer', { requestId, approve: false }))).toEqual(['request:answered']);
    expect(team.view('1')).toMatchObject({ status: 'in_progress', work: { state: 'submitted' } });
  });

  test('is needed no more if somebody changed that limit of the member; others still wait', () => {
    const team = teamOf();
    for (const name of ['ann', 'bob']) {
      team.do('member.join', { name, budget: { turns: 1 } });
      team.do('usage.record', { memberId: name, usage: { turns: 1 } });
    }
    const [ofAnn, ofBob] = budgetQuestions(team.state, team.now).map((question) => raise(team, question));
    team.as('@user', 'member.change', { memberId: 'ann', budget: { turns: 1, tokens: 9 } });
    expect(team.state.requests.get(ofAnn ?? '')?.status).toBe('pending');
    team.as('@user', 'member.change', { memberId: 'ann', budget: { turns: 5 } });
    expect([ofAnn, ofBob].map((id) => team.state.requests.get(id ?? '')?.status)).toEqual(['withdrawn', 'pending']);
  });
});

describe('an answer about a member that was given up', () => {
  const detail = { setup: 'npm ci' };

  function givenUp(...names: string[]): Stage {
    const team = teamOf();
    for (const name of names) {
      team.do('member.join', { name, agent: EXEC });
      team.as('@system', 'member.leave', { memberId: name });
    }
    return team;
  }

  test('that is a yes to a setup starts all members that wait for the same one', () => {
    const team = givenUp('ann', 'bob', 'cyd', 'dan');
    const requestId = raise(team, { kind: 'restart', memberId: 'ann', content: 'x', detail });
    raise(team, { kind: 'restart', memberId: 'bob', content: 'x', detail });
    raise(team, { kind: 'restart', memberId: 'cyd', content: 'x', detail: { setup: 'make' } });
    raise(team, { kind: 'restart', memberId: 'dan', content: 'x' });
    const events = team.as('@user', 'request.answer', { requestId, approve: true });
    expect(types(events)).toEqual(['request:answered', 'teammate:joined', 'teammate:joined']);
    expect([...team.state.members.values()].filter(({ status }) => status === 'spawning').map(({ id }) => id)).toEqual([
      'ann',
      'bob',
    ]);
    const waiting = [...team.state.requests.values()].filter(({ status }) => status === 'pending');
    expect(waiting.map(({ memberId }) => memberId)).toEqual(['cyd', 'dan']);
  });

  test('that is a yes to a crash starts that member alone', () => {
    const team = givenUp('ann', 'bob');
    raise(team, { kind: 'restart', memberId: 'bob', content: 'x' });
    const requestId = raise(team, { kind: 'restart', memberId: 'ann', content: 'x' });
    expect(types(team.as('@user', 'request.answer', { requestId, approve: true }))).toEqual([
      'request:answered',
      'teammate:joined',
    ]);
  });

  test('that is a no leaves it stopped', () => {
    const team = givenUp('ann');
    const requestId = raise(team, { kind: 'restart', memberId: 'ann', content: 'x', detail });
    expect(types(team.as('@user', 'request.answer', { requestId, approve: false }))).toEqual(['request:answered']);
  });
});

describe('an answer about an account', () => {
  const limit = { cause: 'unauthorised', reason: 'logged out', since: 1, until: 9e12, known: false, tries: 1 } as const;

  /** A person is asked to log in. */
  function loggedOut(): { team: Stage; requestId: string } {
    const team = teamOf('ann', 'bob');
    const detail = { account: 'claude' };
    team.as('@system', 'account.set', { account: 'claude', limit });
    const requestId = raise(team, { kind: 'account', memberId: 'ann', content: 'Log in.', detail });
    // Another member noticed it as well.
    expect(
      team.as('@system', 'request.raise', { kind: 'account', memberId: 'bob', content: 'Log in.', detail }),
    ).toEqual([]);
    return { team, requestId };
  }

  test('that is a yes lets it be used again at once', () => {
    const { team, requestId } = loggedOut();
    expect(team.as('@user', 'request.answer', { requestId, approve: true })).toMatchObject([
      { type: 'request:answered' },
      { type: 'account:changed', account: 'claude', limit: null },
    ]);
  });

  test('that is a no changes nothing', () => {
    const { team, requestId } = loggedOut();
    expect(types(team.as('@user', 'request.answer', { requestId, approve: false }))).toEqual(['request:answered']);
    expect(team.state.accounts.get('claude')?.limit).toEqual(limit);
  });

  test('is needed no more once the account can be used; another account is another question', () => {
    const { team, requestId } = loggedOut();
    const other = raise(team, { kind: 'account', memberId: 'bob', content: 'x', detail: { account: 'codex' } });
    team.as('@user', 'account.set', { account: 'claude', limit: null });
    expect([requestId, other].map((id) => team.state.requests.get(id)?.status)).toEqual(['withdrawn', 'pending']);
    // Nobody knows a limit of that one.
    expect(types(team.as('@user', 'request.answer', { requestId: other, approve: true }))).toEqual([
      'request:answered',
    ]);
  });
});
