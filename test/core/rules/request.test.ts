import { describe, expect, test } from 'vitest';
import type { TeamRequest } from '../../../src/core/request.ts';
import { requireMember, viewMember } from '../../../src/core/view.ts';
import { teamOf, types } from '../stage.ts';
import type { Stage } from '../stage.ts';

describe('a shutdown request', () => {
  test('waits for an answer, and asking twice is asking once', () => {
    const team = teamOf('ann', 'bob');
    const id = askToStop(team, 'ann');
    expect(id).toMatch(/^shutdown-\d+@ann$/);
    expect(request(team, id)).toMatchObject({
      id,
      teamId: 'alpha',
      kind: 'shutdown',
      memberId: 'ann',
      requestedBy: 'lead',
      requestedAt: expect.any(Date) as Date,
      content: 'enough',
      status: 'pending',
    });
    expect(team.as('@user', 'shutdown.request', { memberId: 'ann' })).toEqual([]);
    expect(askToStop(team, 'bob')).not.toBe(id);
  });

  test('is made by those who decide and by the member itself', () => {
    const team = teamOf('ann', 'bob');
    expect(team.refuse('bob', 'shutdown.request', { memberId: 'ann' })).toMatchObject({
      code: 'not_allowed',
      message: 'bob may not ask others to shut down: ask lead or a person',
    });
    expect(team.refuse('lead', 'shutdown.request', { memberId: 'eve' }).code).toBe('not_found');
    team.as('ann', 'shutdown.request', { memberId: 'ann' });
    team.as('@system', 'shutdown.request', { memberId: 'bob' });
  });

  test('that is approved lets the member finish', () => {
    const team = teamOf('ann');
    const requestId = askToStop(team, 'ann');
    expect(types(team.as('ann', 'shutdown.approve', { requestId, feedback: 'bye' }))).toEqual(['shutdown:approved']);
    expect(request(team, requestId)).toMatchObject({
      status: 'approved',
      answeredBy: 'ann',
      answeredAt: expect.any(Date) as Date,
      feedback: 'bye',
    });
    expect(requireMember(team.state, 'ann').status).toBe('shutting-down');
  });

  test('that is rejected changes nothing, and another can be made', () => {
    const team = teamOf('ann');
    const requestId = askToStop(team, 'ann');
    expect(types(team.as('ann', 'shutdown.reject', { requestId, feedback: 'busy' }))).toEqual(['shutdown:rejected']);
    expect(request(team, requestId)).toMatchObject({ status: 'rejected', feedback: 'busy' });
    expect(requireMember(team.state, 'ann').status).toBe('active');
    askToStop(team, 'ann');
  });

  test.each(['shutdown.approve', 'shutdown.reject'] as const)('is answered by its member or Troupe: %s', (type) => {
    const team = teamOf('ann', 'bob');
    const requestId = askToStop(team, 'ann');
    const what = type === 'shutdown.approve' ? 'agree to' : 'refuse';
    for (const by of ['lead', 'bob', '@user']) {
      expect(team.refuse(by, type, { requestId })).toMatchObject({
        code: 'not_allowed',
        message: `${by} may not ${what} the shutdown of ann: only ann may`,
      });
    }
    team.as('@system', type, { requestId });
  });
});

describe('a plan', () => {
  test('waits for an answer', () => {
    const team = teamOf('ann');
    const id = submit(team, 'ann');
    expect(id).toMatch(/^plan_approval-\d+@ann@alpha$/);
    expect(request(team, id)).toMatchObject({
      kind: 'plan',
      memberId: 'ann',
      requestedBy: 'ann',
      content: 'the plan',
      filePath: '/plan.md',
      status: 'pending',
    });
  });

  test('takes the place of an older one of the same member, and of no other', () => {
    const team = teamOf('ann', 'bob');
    const [older, others, newer] = [submit(team, 'ann'), submit(team, 'bob'), submit(team, 'ann')] as const;
    const stopping = askToStop(team, 'ann');
    const newest = submit(team, 'ann');
    expect([older, others, newer, stopping, newest].map((id) => request(team, id).status)).toEqual([
      'withdrawn',
      'pending',
      'withdrawn',
      'pending',
      'pending',
    ]);
    expect(team.refuse('lead', 'plan.approve', { requestId: older })).toMatchObject({
      code: 'conflict',
      message: `The plan request ${older} is withdrawn: it takes one answer`,
    });
  });

  test('that is approved lets its author write', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann', planApprovalRequired: true });
    const requestId = submit(team, 'ann');
    team.as('@user', 'plan.reject', { requestId, feedback: 'too long' });
    expect(request(team, requestId)).toMatchObject({ status: 'rejected', feedback: 'too long', answeredBy: '@user' });
    expect(planMode(team, 'ann')).toBe(true);
    team.do('plan.approve', { requestId: submit(team, 'ann') });
    expect(planMode(team, 'ann')).toBe(false);
  });

  test.each(['plan.approve', 'plan.reject'] as const)('is judged by the lead or a person: %s', (type) => {
    const team = teamOf('ann', 'bob');
    const requestId = submit(team, 'ann');
    for (const by of ['ann', 'bob']) {
      expect(team.refuse(by, type, { requestId })).toMatchObject({
        code: 'not_allowed',
        message: `${by} may not judge plans: ask lead or a person`,
      });
    }
    const others = 'may not judge the plan of ann: the lead or a person does';
    expect(team.refuse('@system', type, { requestId })).toMatchObject({
      code: 'not_allowed',
      message: `@system ${others}`,
    });
    team.do('team.update', { leadId: 'ann' });
    expect(team.refuse('ann', type, { requestId })).toMatchObject({ code: 'not_allowed', message: `ann ${others}` });
    team.as('@user', type, { requestId });
  });

  test('is handed in by a member', () => {
    const team = teamOf();
    for (const by of ['@user', '@system', 'eve']) {
      expect(team.refuse(by, 'plan.submit', { content: 'p' })).toMatchObject({ code: 'not_found' });
    }
  });
});

describe('an answer', () => {
  test.each([
    ['shutdown.approve', 'shutdown.approve', 'approved'],
    ['shutdown.reject', 'shutdown.approve', 'rejected'],
    ['shutdown.approve', 'shutdown.reject', 'approved'],
    ['plan.approve', 'plan.reject', 'approved'],
    ['plan.reject', 'plan.approve', 'rejected'],
  ] as const)('is given once: after %s no %s', (first, second, status) => {
    const team = teamOf('ann');
    const isPlan = first.startsWith('plan');
    const requestId = isPlan ? submit(team, 'ann') : askToStop(team, 'ann');
    const by = isPlan ? 'lead' : 'ann';
    team.as(by, first, { requestId });
    const before = request(team, requestId);
    expect(team.refuse(by, second, { requestId })).toMatchObject({
      code: 'conflict',
      message: `The ${isPlan ? 'plan' : 'shutdown'} request ${requestId} is ${status}: it takes one answer`,
    });
    expect(request(team, requestId)).toEqual(before);
  });

  test('is refused from those who are stopped or unknown', () => {
    const team = teamOf('ann', 'bob');
    const requestId = askToStop(team, 'ann');
    team.do('member.leave', { memberId: 'bob' });
    expect(team.refuse('bob', 'shutdown.approve', { requestId }).code).toBe('member_stopped');
    expect(team.refuse('eve', 'shutdown.approve', { requestId }).code).toBe('not_found');
  });

  test('names its request, also where two are made in one millisecond', () => {
    const team = teamOf('ann');
    const { state } = team;
    const first = submit(team, 'ann');
    const taken = Number(/\d+/.exec(first)?.[0]) + 1000;
    // The next command comes a second later: its id is taken.
    state.requests.set(`plan_approval-${taken}@ann@alpha`, { ...request(team, first), status: 'withdrawn' });
    expect(submit(team, 'ann')).toBe(`plan_approval-${taken + 1}@ann@alpha`);
  });
});

function askToStop(team: Stage, memberId: string): string {
  return idOf(team.do('shutdown.request', { memberId, reason: 'enough' }));
}

function submit(team: Stage, by: string): string {
  return idOf(team.as(by, 'plan.submit', { content: 'the plan', filePath: '/plan.md' }));
}

function idOf([event]: readonly unknown[]): string {
  return (event as { requestId: string }).requestId;
}

function request(team: Stage, id: string): TeamRequest {
  return team.state.requests.get(id) as TeamRequest;
}

function planMode(team: Stage, id: string): boolean {
  return viewMember(team.state, requireMember(team.state, id)).planModeRequired;
}
