import { describe, expect, test } from 'vitest';
import { describeLimit } from '../../src/core/account-words.ts';
import type { Account, AccountLimit } from '../../src/core/account.ts';
import { agentNameOf, wordOnLimit } from '../../src/core/agent-words.ts';
import { requireFallbacks } from '../../src/core/limit-policy.ts';
import { limitAnswer, limitQuestion } from '../../src/core/limit-question.ts';
import { OnLimitInput } from '../../src/core/on-limit.ts';
import type { OnLimit } from '../../src/core/on-limit.ts';
import { parse } from '../../src/core/parse.ts';
import type { RaiseRequestInput } from '../../src/core/request.ts';
import type { MemberRecord } from '../../src/core/state.ts';
import { turnGate } from '../../src/core/turn-gate.ts';
import type { KnownAccounts } from '../../src/core/turn-gate.ts';
import { teamOf, types } from './stage.ts';
import type { InputOf, Stage } from './stage.ts';

const HOUR = 3_600_000;
const ACCOUNTS = { codex: 'codex', 'claude@second': 'claude@second' };
const SECOND = { name: 'claude@second', agent: { kind: 'claude', account: 'second' } } as const;
const FALLBACK = { fallback: ['codex', SECOND] };

/** A team in which ann works with claude, and what it does when its limit is reached. */
function teamWith(onLimit: InputOf<'member.join'>['onLimit']): Stage {
  const team = teamOf();
  team.as('@user', 'member.join', { name: 'ann', agent: 'claude', sessionId: 's1', model: 'opus', onLimit });
  team.as('ann', 'member.change', { memberId: 'ann', account: 'claude', fallbackAccounts: ACCOUNTS });
  return team;
}

/** An account that is limited for this many hours from now. */
function limit(team: Stage, id: string, hours: number, known = true): void {
  const [since, until] = [team.now, team.now + hours * HOUR];
  const limited = { cause: 'limited', reason: 'used up', since, until, known, tries: 1 } as const;
  team.as('@system', 'account.set', { account: id, limit: limited });
}

function look(team: Stage, more: Partial<KnownAccounts> = {}) {
  const account = (id: string): Account | undefined => team.state.accounts.get(id);
  return turnGate(team.state, 'ann', { now: team.now, canSwitch: true, account, triedUntil: () => undefined, ...more });
}

/** Does what the gate says. */
function follow(team: Stage): void {
  const gate = look(team);
  if (gate.kind === 'switch') use(team, gate.to);
  else if (gate.kind === 'closed' && gate.ask) team.as('@system', 'request.raise', gate.ask);
}

function use(team: Stage, to: string | null): string[] {
  return types(team.as('@system', 'member.change', { memberId: 'ann', use: to }));
}

const ann = (team: Stage) => team.state.members.get('ann');

describe('a member whose account is limited', () => {
  test('waits, if nobody says otherwise', () => {
    const team = teamWith(undefined);
    expect(look(team)).toEqual({ kind: 'open', isTry: false });
    limit(team, 'claude', 3);
    expect(look(team)).toMatchObject({ kind: 'closed' });
    expect(look(team)).not.toHaveProperty('ask.content');
  });

  test('goes on with the first fallback that can be used, and keeps its task under a new epoch', () => {
    const team = teamWith(FALLBACK);
    const task = team.task();
    expect(team.claimNext('ann')).toBe(task);
    limit(team, 'claude', 3);
    expect(look(team)).toEqual({ kind: 'switch', to: 'codex', account: 'codex' });
    expect(use(team, 'codex')).toEqual(['task:released', 'task:assigned', 'teammate:switched']);
    expect(team.view(task)).toMatchObject({ status: 'pending', assigneeId: 'ann', epoch: 2 });
    expect(team.refuse('ann', 'task.complete', { taskId: task, epoch: 1 }).code).toBe('stale_epoch');
    expect(ann(team)).toMatchObject({ agent: { kind: 'codex' }, sessionId: 'none', account: 'codex' });
    expect(ann(team)?.model).toBeUndefined();
    expect(team.claimNext('ann')).toBe(task);
    expect(look(team)).toEqual({ kind: 'open', isTry: false });
    // The same again changes nothing.
    expect(use(team, 'codex')).toEqual([]);
  });

  test('takes the next fallback if the first is limited as well; if all are, it waits for the earliest reset', () => {
    const team = teamWith(FALLBACK);
    limit(team, 'claude', 3);
    limit(team, 'codex', 2);
    expect(look(team)).toMatchObject({ kind: 'switch', to: 'claude@second' });
    limit(team, 'claude@second', 4);
    const gate = look(team);
    if (gate.kind !== 'closed') throw new Error(gate.kind);
    expect(gate.until - team.now).toBeLessThan(2 * HOUR + 60_000);
    team.pass(2 * HOUR + 60_000);
    expect(look(team)).toMatchObject({ kind: 'switch', to: 'codex' });
  });

  test('is back with its own agent and conversation at the next task after the reset', () => {
    const team = teamWith(FALLBACK);
    limit(team, 'claude', 3);
    follow(team);
    const task = team.task();
    team.claimNext('ann');
    team.pass(3 * HOUR + 60_000);
    expect(look(team)).toEqual({ kind: 'open', isTry: false });
    team.as('ann', 'task.complete', { taskId: task, epoch: team.view(task).epoch });
    expect(look(team)).toEqual({ kind: 'switch', to: null, account: 'claude' });
    expect(use(team, null)).toEqual(['teammate:switched']);
    expect(ann(team)).toMatchObject({ agent: { kind: 'claude' }, sessionId: 's1', model: 'opus', account: 'claude' });
    expect(ann(team)?.standIn).toBeUndefined();
    expect(look(team)).toEqual({ kind: 'open', isTry: true });
  });

  test('keeps what waits for a person or is reserved for it as it is, and has no other fallbacks than its own', () => {
    const team = teamWith(FALLBACK);
    const [asked, reserved] = [team.task(), team.task({ assigneeId: 'ann' })];
    for (const taskId of [asked, reserved]) team.as('ann', 'task.claim', { taskId });
    team.as('@system', 'request.raise', { kind: 'gate', memberId: 'ann', taskId: asked, content: 'x' });
    expect(team.refuse('@system', 'member.change', { memberId: 'ann', use: 'gemini' })).toMatchObject({
      code: 'conflict',
      message: 'Member ann has no fallback gemini',
    });
    expect(use(team, 'codex')).toEqual(['task:released', 'teammate:switched']);
    expect(team.view(asked)).toMatchObject({ status: 'in_progress', assigneeId: 'ann', epoch: 1 });
    expect(team.view(reserved)).toMatchObject({ status: 'pending', assigneeId: 'ann', epoch: 2 });
  });

  test('does not switch for a limit of a few minutes, an overload, the same account, or without a process that can', () => {
    const team = teamWith({ fallback: [{ name: 'twin', agent: { kind: 'claude' } }] });
    team.as('ann', 'member.change', { memberId: 'ann', fallbackAccounts: { twin: 'claude' } });
    limit(team, 'claude', 3);
    expect(look(team).kind).toBe('closed');
    const other = teamWith(FALLBACK);
    limit(other, 'claude', 0.05);
    expect(look(other).kind).toBe('closed');
    other.pass(HOUR);
    limit(other, 'claude', 3);
    expect(look(other, { canSwitch: false }).kind).toBe('closed');
    const busy = teamWith(FALLBACK);
    const overloaded = { cause: 'overloaded', reason: 'busy', since: busy.now, until: busy.now + HOUR } as const;
    busy.as('@system', 'account.set', { account: 'claude', limit: { ...overloaded, known: false, tries: 9 } });
    expect(look(busy).kind).toBe('closed');
  });

  test('tries an account that may work again only if no other member does', () => {
    const team = teamWith(FALLBACK);
    limit(team, 'claude', 3, false);
    follow(team);
    team.pass(4 * HOUR);
    expect(look(team, { triedUntil: () => team.now + 1_000 })).toEqual({ kind: 'open', isTry: false });
    expect(look(team)).toMatchObject({ kind: 'switch', to: null });
  });

  test('stays with its fallback when it is restarted, and not when it is given another agent', () => {
    const team = teamWith(FALLBACK);
    limit(team, 'claude', 3);
    follow(team);
    team.as('@system', 'member.leave', { memberId: 'ann', returning: true });
    team.as('@system', 'member.join', { name: 'ann', agent: 'codex', onLimit: FALLBACK });
    expect(ann(team)?.standIn).toMatchObject({ name: 'codex', own: { sessionId: 's1' } });
    team.as('@system', 'member.leave', { memberId: 'ann' });
    team.as('@user', 'member.join', { name: 'ann', agent: 'claude', onLimit: FALLBACK });
    expect(ann(team)?.standIn).toBeUndefined();
  });
});

describe('a person who is asked about a limit', () => {
  const asked = (team: Stage) => [...team.state.requests.values()];

  function asking(): { team: Stage; requestId: string } {
    const team = teamWith({ ask: ['codex'] });
    limit(team, 'claude', 3);
    follow(team);
    return { team, requestId: asked(team)[0]?.id ?? '' };
  }

  test('is asked once for each limit, with what can be done', () => {
    const { team } = asking();
    expect(asked(team)).toMatchObject([
      { kind: 'account', memberId: 'ann', question: { choices: ['wait', 'use codex', 'stop'], fallback: 'wait' } },
    ]);
    follow(team);
    expect(asked(team)).toHaveLength(1);
    // The next limit is another question.
    team.as('@user', 'account.set', { account: 'claude', limit: null });
    expect(asked(team)).toMatchObject([{ status: 'withdrawn' }]);
    limit(team, 'claude', 3);
    follow(team);
    expect(asked(team)).toHaveLength(2);
  });

  test('lets its members wait, use another agent, or stop', () => {
    const waits = asking();
    waits.team.as('@user', 'request.answer', { requestId: waits.requestId, approve: true, choice: 'wait' });
    expect(look(waits.team)).toMatchObject({ kind: 'closed', ask: undefined });
    const uses = asking();
    uses.team.as('@user', 'request.answer', { requestId: uses.requestId, approve: true, choice: 'use codex' });
    expect(look(uses.team)).toMatchObject({ kind: 'switch', to: 'codex' });
    const stops = asking();
    stops.team.as('@user', 'request.answer', { requestId: stops.requestId, approve: true, choice: 'stop' });
    expect(ann(stops.team)).toMatchObject({
      status: 'stopped',
      stopReason: 'stopped by a person: the limit of its account is reached',
    });
  });

  test('must choose one of the answers; without one the members wait', () => {
    const { team, requestId } = asking();
    expect(team.refuse('@user', 'request.answer', { requestId, approve: true }).code).toBe('invalid');
    expect(team.refuse('@user', 'request.answer', { requestId, approve: true, choice: 'use gemini' }).code).toBe(
      'invalid',
    );
    team.as('@system', 'request.answer', { requestId, approve: false });
    expect(asked(team)).toMatchObject([{ status: 'rejected', choice: 'wait' }]);
    expect(look(team)).toMatchObject({ kind: 'closed', ask: undefined });
  });
});

test('only a person chooses fallbacks, and only agents that a daemon can start without a native team', () => {
  const team = teamOf('ann');
  const change = (onLimit: InputOf<'member.change'>['onLimit']) => ({ memberId: 'ann', onLimit });
  expect(team.refuse('ann', 'member.change', change('ask')).code).toBe('not_allowed');
  expect(team.refuse('lead', 'team.update', { onLimit: 'ask' }).code).toBe('not_allowed');
  expect(team.refuse('@user', 'member.change', change({ fallback: ['claude-native'] })).message).toContain(
    'native team',
  );
  expect(team.refuse('@user', 'team.update', { onLimit: { fallback: ['codex', 'codex'] } }).message).toContain('twice');
  const secret = { name: 'x', agent: { kind: 'codex', env: { CODEX_API_KEY: 'sk-proj-abcdefghijklmnopqrstuvwx' } } };
  expect(team.refuse('@user', 'member.change', change({ fallback: [secret] })).code).toBe('invalid');
  team.as('@user', 'team.update', { onLimit: 'ask' });
  expect(team.state.team?.onLimit).toEqual({ policy: 'ask', agents: [] });
});

test('a turn of an unknown member is not held back, and none begins in quiet hours', () => {
  const team = teamWith(undefined);
  const known = { now: team.now, canSwitch: true, account: () => undefined, triedUntil: () => undefined };
  expect(turnGate(team.state, 'eve', known)).toEqual({ kind: 'open', isTry: false });
  team.as('@user', 'member.change', { memberId: 'ann', quietHours: '00:00-23:59' });
  const noon = new Date(2026, 0, 2, 12).getTime();
  expect(look(team, { now: noon })).toEqual({ kind: 'quiet', until: new Date(2026, 0, 2, 23, 59).getTime() });
});

describe('a member with a stand-in', () => {
  test('goes back to its own agent if the stand-in has no login, or is limited as well', () => {
    for (const cause of ['unauthorised', 'limited'] as const) {
      const team = teamWith(FALLBACK);
      team.task();
      team.claimNext('ann');
      limit(team, 'claude', 1);
      follow(team);
      team.as('ann', 'member.change', { memberId: 'ann', account: 'codex' });
      expect(ann(team)).toMatchObject({ standIn: { name: 'codex' }, account: 'codex' });
      team.pass(2 * HOUR);
      const [since, until] = [team.now, team.now + 3 * HOUR];
      const fact = { cause, reason: 'no', since, until, known: true, tries: 1 };
      team.as('@system', 'account.set', { account: 'codex', limit: fact });
      expect(look(team)).toEqual({ kind: 'switch', to: null, account: 'claude' });
    }
  });

  test('waits for an overloaded stand-in', () => {
    const team = teamWith(FALLBACK);
    limit(team, 'claude', 1);
    follow(team);
    team.as('ann', 'member.change', { memberId: 'ann', account: 'codex' });
    const [since, until] = [team.now, team.now + 3 * HOUR];
    const busy = { cause: 'overloaded', reason: 'busy', since, until, known: false, tries: 1 } as const;
    team.as('@system', 'account.set', { account: 'codex', limit: busy });
    expect(look(team)).toEqual({ kind: 'closed', until });
  });

  test('takes a fallback whose account nobody knows yet', () => {
    const team = teamOf();
    team.as('@user', 'member.join', { name: 'ann', agent: 'claude', onLimit: { fallback: ['codex'] } });
    expect(look(team)).toEqual({ kind: 'open', isTry: false });
    team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
    limit(team, 'claude', 3);
    expect(look(team)).toEqual({ kind: 'switch', to: 'codex', account: undefined });
  });
});

test('the question about a limit is for all members that wait, with or without other agents', () => {
  const team = teamWith('ask');
  team.as('@user', 'member.join', { name: 'bob', agent: 'claude', onLimit: 'ask' });
  team.as('bob', 'member.change', { memberId: 'bob', account: 'claude' });
  team.as('@user', 'member.join', { name: 'cyd', agent: 'claude', onLimit: 'ask' });
  team.as('cyd', 'member.change', { memberId: 'cyd', account: 'codex' });
  limit(team, 'claude', 3);
  const gate = look(team);
  expect(gate.kind === 'closed' && gate.ask?.content.split('\n')[1]).toBe(
    'ann, bob wait. "wait": until the reset. "stop": stop them; the tasks go back to the list.',
  );
});

test('the question about a limit says what another agent would do, if there is one', () => {
  const team = teamWith({ ask: ['codex'] });
  limit(team, 'claude', 3);
  const gate = look(team);
  expect(gate.kind === 'closed' && gate.ask?.content.split('\n')[1]).toBe(
    'ann waits. "wait": until the reset. "use NAME": go on with that agent, and back at the next task after the reset. ' +
      '"stop": stop it; the tasks go back to the list.',
  );
});

test('a member that Troupe does not run has no other agent', () => {
  const team = teamOf('ann');
  team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
  limit(team, 'claude', 3);
  expect(look(team)).toEqual({ kind: 'closed', until: expect.any(Number) as number });
});

test.each([
  ['wait', { policy: 'wait', agents: [] }],
  [{ ask: ['codex'] }, { policy: 'ask', agents: [{ name: 'codex', agent: { kind: 'codex' } }] }],
  [
    { policy: 'wait', agents: [] },
    { policy: 'wait', agents: [] },
  ],
])('a policy may be written as %j', (given, policy) => {
  expect(parse(OnLimitInput, given)).toEqual(policy);
});

test.each([
  [{ fallback: [] }, 'names no agent'],
  [{ policy: 'wait', agents: [{ name: 'codex', agent: 'codex' }] }, 'needs no agents to wait'],
  [{ fallback: 'codex' }, 'agents: must be a list, not text'],
  [{ fallback: ['codex'], ask: [] }, 'policy'],
  [{ stop: [] }, 'policy'],
  [{}, 'policy'],
  [null, 'must be an object'],
  [7, 'must be an object'],
])('%j is no policy', (given, problem) => {
  expect(() => parse(OnLimitInput, given)).toThrow(problem);
});

test.each([
  ['claude-native', 'it works in a terminal and a native team of its own; name claude instead'],
  ['team', 'it is a team, whose members have limits of their own'],
  ['function', 'it is a function of another process, which no daemon can start'],
] as const)('an agent of the kind %s cannot stand in', (kind, why) => {
  const policy: OnLimit = { policy: 'fallback', agents: [{ name: 'other', agent: { kind } }] };
  expect(() => requireFallbacks(policy)).toThrow(`other cannot stand in: ${why}`);
});

test('policies and agents in words', () => {
  expect(wordOnLimit({ policy: 'wait', agents: [] })).toBe('wait');
  const agents = [SECOND, { name: 'codex', agent: { kind: 'codex' as const } }];
  expect(wordOnLimit({ policy: 'fallback', agents })).toBe('fallback: claude@second, codex');
  const own = { agent: { kind: 'claude' as const }, sessionId: 's' };
  expect(agentNameOf({})).toBe('');
  expect(agentNameOf({ agent: { kind: 'acp', name: 'gemini' } })).toBe('gemini');
  expect(agentNameOf({ agent: own.agent })).toBe('claude');
  expect(agentNameOf({ agent: { kind: 'codex' }, standIn: { name: 'codex', since: 0, own } })).toBe(
    'codex (for claude)',
  );
});

test('a member that comes back brings its fallbacks, whoever adds it', () => {
  const team = teamWith(FALLBACK);
  const { onLimit } = ann(team) ?? {};
  team.as('@system', 'member.leave', { memberId: 'ann', returning: true });
  const input = { name: 'ann', agent: 'claude', onLimit } as const;
  expect(team.refuse('lead', 'member.join', { ...input, onLimit: 'ask' }).message).toContain(
    'choose what follows when a limit is reached',
  );
  team.do('member.join', input);
  expect(ann(team)?.onLimit).toEqual(onLimit);
});

describe('the question what to do at a limit', () => {
  const LIMITED = { cause: 'limited', reason: 'used up', since: 5, until: 9_000, known: true, tries: 1 } as const;

  test('names the members that wait, and the choices; only those with this policy and account do', () => {
    const team = teamWith('ask');
    const member = ann(team) as MemberRecord;
    const question = limitQuestion(team.state, member, LIMITED);
    expect(question).toStrictEqual({
      kind: 'account',
      memberId: 'ann',
      content:
        `The account is ${describeLimit(LIMITED, 'claude')}: used up\n` +
        'ann waits. "wait": until the reset. "stop": stop it; the tasks go back to the list.',
      detail: { account: 'claude', cause: 'limited', since: 5 },
      question: { choices: ['wait', 'stop'], freeText: false, otherwise: 'go-on', fallback: 'wait' },
    });
    for (const [name, onLimit, account] of [
      ['bob', { ask: ['codex'] }, 'claude'],
      ['cyd', 'wait', 'claude'],
      ['dan', 'ask', 'codex'],
      ['eve', 'ask', 'claude'],
    ] as const) {
      team.as('@user', 'member.join', { name, agent: 'claude', onLimit });
      team.as(name, 'member.change', { memberId: name, account });
    }
    team.do('member.leave', { memberId: 'eve' });
    const ofBob = limitQuestion(team.state, team.state.members.get('bob') as MemberRecord, LIMITED);
    expect(ofBob?.content).toContain(
      'ann, bob wait. "wait": until the reset. "use NAME": go on with that agent, and back at the next task after the ' +
        'reset. "stop": stop them; the tasks go back to the list.',
    );
    expect(ofBob?.question?.choices).toEqual(['wait', 'use codex', 'stop']);
    expect(limitQuestion(team.state, team.state.members.get('cyd') as MemberRecord, LIMITED)).toBeUndefined();
    for (const cause of ['overloaded', 'unauthorised'] as const) {
      expect(limitQuestion(team.state, member, { ...LIMITED, cause })).toBeUndefined();
    }
  });

  test('is asked once for each limit, and again if it was withdrawn', () => {
    const team = teamWith('ask');
    team.as('@system', 'account.set', { account: 'claude', limit: LIMITED });
    const ask = (limited: AccountLimit = LIMITED) => limitQuestion(team.state, ann(team) as MemberRecord, limited);
    const about = { memberId: 'ann', content: 'x', detail: { account: 'claude', since: 5 } };
    team.as('@system', 'request.raise', { ...about, kind: 'hang' });
    team.as('@system', 'request.raise', { ...about, kind: 'account', detail: undefined });
    team.as('@system', 'request.raise', { ...about, kind: 'account', detail: { account: 'codex', since: 5 } });
    team.as('@system', 'request.raise', ask() as RaiseRequestInput);
    const requestId = [...team.state.requests.keys()].at(-1) ?? '';
    expect(ask()).toBeUndefined();
    expect(ask({ ...LIMITED, since: 6 })).toBeDefined();
    const answered = (status: 'pending' | 'withdrawn' | 'approved' | 'rejected', choice?: string) => {
      const request = team.state.requests.get(requestId);
      if (request) team.state.requests.set(requestId, { ...request, status, choice });
      return limitAnswer(team.state, 'claude', LIMITED);
    };
    expect(answered('approved', 'use codex')).toBe('codex');
    expect(answered('approved', 'wait')).toBeUndefined();
    expect(answered('rejected', 'use codex')).toBeUndefined();
    expect(answered('withdrawn', 'use codex')).toBeUndefined();
    expect(ask()).toBeDefined();
    expect(limitAnswer(team.state, 'other', LIMITED)).toBeUndefined();
  });
});

test('a fallback whose account is not known yet is taken without one, and what was handed in stays', () => {
  const team = teamOf();
  const onLimit = { fallback: ['codex'] };
  team.as('@user', 'member.join', { name: 'ann', agent: 'claude', sessionId: 's1', onLimit });
  expect(use(team, null)).toEqual([]);
  expect(use(team, 'codex')).toEqual(['teammate:switched']);
  expect(ann(team)).toMatchObject({ agent: { kind: 'codex' }, standIn: { name: 'codex' }, account: undefined });
  expect(use(team, 'codex')).toEqual([]);
  const idle = teamOf('ann');
  expect(use(idle, 'codex')).toEqual([]);
});
