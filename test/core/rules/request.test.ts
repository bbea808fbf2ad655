import { describe, expect, test } from 'vitest';
import {
  ANSWER_WITHIN,
  LEAD_GRACE_MS,
  LONGEST_LEASE_MS,
  SHORTEST_LEASE_MS,
  SHUTDOWN_WITHIN,
} from '../../../src/core/limits.ts';
import type { TeamRequest } from '../../../src/core/request.ts';
import { requireMember, viewMember } from '../../../src/core/view.ts';
import { teamOf, types } from '../stage.ts';
import type { Stage } from '../stage.ts';

describe('a shutdown request', () => {
  test('waits for an answer, and a second one has no effect', () => {
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

  test('is made by managers and by the member itself', () => {
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

  test('replaces an older one of the same member, and no other', () => {
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
    const others = 'may not judge the plan of ann: only the lead or a person may';
    expect(team.refuse('@system', type, { requestId })).toMatchObject({
      code: 'not_allowed',
      message: `@system ${others}`,
    });
    team.do('team.update', { leadId: 'ann' });
    expect(team.refuse('ann', type, { requestId })).toMatchObject({ code: 'not_allowed', message: `ann ${others}` });
    team.as('@user', type, { requestId });
  });

  test('is submitted by a member', () => {
    const team = teamOf();
    expect(team.refuse('eve', 'plan.submit', { content: 'p' })).toMatchObject({ code: 'not_found' });
    for (const by of ['@user', '@system']) {
      expect(team.refuse(by, 'plan.submit', { content: 'p' })).toMatchObject({ code: 'invalid' });
    }
  });
});

describe('a question to a person', () => {
  test('waits for an answer, with all its fields', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    const said = {
      kind: 'gate',
      memberId: 'ann',
      taskId,
      content: 'It fails on and on',
      detail: { tries: 3 },
    } as const;
    const id = idOf(team.as('@system', 'request.raise', { ...said, within: 5000 }));
    expect(id).toMatch(/^gate-\d+@ann$/);
    const asked = request(team, id);
    expect(asked).toMatchObject({ ...said, id, teamId: 'alpha', requestedBy: '@system', status: 'pending' });
    expect(asked.deadline?.getTime()).toBe(asked.requestedAt.getTime() + 5000);
  });

  test('has a revision, and an answer that names another one is refused', () => {
    const team = teamOf('ann');
    const ask = (content: string): TeamRequest =>
      request(team, idOf(team.as('ann', 'request.raise', { kind: 'permission', memberId: 'ann', content })));
    const [first, second] = [ask(`npm test${'\n'.repeat(5000)}`), ask(`npm test${'\n'.repeat(5000)}rm -rf ~`)];
    expect(first.revision).not.toBe(second.revision);
    const wrong = { requestId: second.id, revision: first.revision as string, approve: true };
    expect(team.refuse('@user', 'request.answer', wrong)).toMatchObject({
      code: 'stale_revision',
      message: expect.stringMatching(/is not the one that was shown .*: look at it again, then answer$/) as string,
    });
    expect(request(team, second.id).status).toBe('pending');
    team.as('@user', 'request.answer', { ...wrong, revision: second.revision });
    expect(request(team, second.id).status).toBe('approved');
    const plan = idOf(team.as('ann', 'plan.submit', { content: 'Tests first' }));
    expect(team.refuse('@user', 'plan.approve', { requestId: plan, revision: 'old' }).code).toBe('stale_revision');
    team.as('@user', 'plan.approve', { requestId: plan, revision: request(team, plan).revision });
  });

  test('is asked by a member for itself, or by Troupe', () => {
    const team = teamOf('ann', 'bob');
    for (const by of ['bob', 'lead', '@user', 'eve']) {
      expect(team.refuse(by, 'request.raise', { kind: 'permission', memberId: 'ann', content: '' })).toMatchObject({
        code: 'not_allowed',
        message: `${by} may not ask in the name of ann: only ann may`,
      });
    }
    raise(team, 'ann');
    expect(team.refuse('@system', 'request.raise', { kind: 'budget', memberId: 'eve', content: '' }).code).toBe(
      'not_found',
    );
  });

  test.each(['gate', 'budget', 'restart', 'account'] as const)(
    'is asked only by Troupe if it is about a %s',
    (kind) => {
      const team = teamOf('ann');
      const taskId = team.task();
      team.as('ann', 'task.claim', { taskId });
      for (const by of ['ann', 'lead', '@user']) {
        expect(team.refuse(by, 'request.raise', { kind, memberId: 'ann', taskId, content: 'May I?' })).toMatchObject({
          code: 'not_allowed',
          message: `${by} may not raise a request of the kind ${kind}: only Troupe may; ask a question instead`,
        });
      }
    },
  );

  test('is not asked by a stopped member, or about an unknown task', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    const ask = { kind: 'permission', memberId: 'ann', content: '' } as const;
    expect(team.refuse('ann', 'request.raise', { ...ask, taskId: '9' }).code).toBe('not_found');
    team.do('task.delete', { taskId });
    expect(team.refuse('ann', 'request.raise', { ...ask, taskId }).code).toBe('not_found');
    team.do('member.leave', { memberId: 'ann' });
    for (const by of ['ann', '@system']) expect(team.refuse(by, 'request.raise', ask).code).toBe('member_stopped');
  });

  test('is one of several, each with its own id and answer', () => {
    const team = teamOf('ann');
    const [first, second] = [raise(team, 'ann'), raise(team, 'ann')];
    expect(second).not.toBe(first);
    team.as('@user', 'request.answer', { requestId: second, approve: true });
    expect([first, second].map((id) => request(team, id).status)).toEqual(['pending', 'approved']);
  });

  test.each([
    [true, 'approved'],
    [false, 'rejected'],
  ])('is answered with %s and is then %s', (approve, status) => {
    const team = teamOf('ann');
    const requestId = raise(team, 'ann');
    expect(team.as('@user', 'request.answer', { requestId, approve, feedback: 'because' })).toMatchObject([
      { type: 'request:answered', requestId, memberId: 'ann', approved: approve },
    ]);
    expect(request(team, requestId)).toMatchObject({
      status,
      answeredBy: '@user',
      answeredAt: expect.any(Date) as Date,
      feedback: 'because',
    });
    for (const by of ['@user', '@system']) {
      expect(team.refuse(by, 'request.answer', { requestId, approve: !approve })).toMatchObject({
        code: 'conflict',
        message: `The permission request ${requestId} is ${status}: it takes one answer`,
      });
    }
    expect(request(team, requestId).status).toBe(status);
  });

  test('is answered by a person or Troupe, never by a member', () => {
    const team = teamOf('ann', 'bob');
    const requestId = raise(team, 'ann');
    for (const by of ['ann', 'bob', 'lead', 'eve']) {
      expect(team.refuse(by, 'request.answer', { requestId, approve: true })).toMatchObject({
        code: 'not_allowed',
        message: `${by} may not answer ${requestId}: only a person may`,
      });
    }
    team.as('@system', 'request.answer', { requestId, approve: false });
    expect(request(team, requestId)).toMatchObject({ status: 'rejected', answeredBy: '@system' });
  });

  test('is neither a shutdown nor a plan, and these are no questions', () => {
    const team = teamOf('ann');
    for (const requestId of [askToStop(team, 'ann'), submit(team, 'ann'), 'none']) {
      expect(team.refuse('@user', 'request.answer', { requestId, approve: true })).toMatchObject({
        code: 'not_found',
        message: `There is no request "${requestId}"`,
      });
    }
    const requestId = raise(team, 'ann');
    for (const type of ['plan.approve', 'plan.reject', 'shutdown.approve', 'shutdown.reject'] as const) {
      expect(team.refuse(type.startsWith('plan') ? 'lead' : 'ann', type, { requestId }).code).toBe('not_found');
    }
  });

  test('is withdrawn when its member stops', () => {
    const team = teamOf('ann', 'bob');
    const [own, others] = [raise(team, 'ann'), raise(team, 'bob')] as const;
    team.do('member.leave', { memberId: 'ann' });
    expect([own, others].map((id) => request(team, id).status)).toEqual(['withdrawn', 'pending']);
    expect(team.refuse('@user', 'request.answer', { requestId: own, approve: true }).code).toBe('conflict');
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

  test('is refused from stopped or unknown members', () => {
    const team = teamOf('ann', 'bob');
    const requestId = askToStop(team, 'ann');
    team.do('member.leave', { memberId: 'bob' });
    expect(team.refuse('bob', 'shutdown.approve', { requestId }).code).toBe('member_stopped');
    expect(team.refuse('eve', 'shutdown.approve', { requestId }).code).toBe('not_found');
  });

  test('names its request, even if two are made in one millisecond', () => {
    const team = teamOf('ann');
    const { state } = team;
    const first = submit(team, 'ann');
    const taken = Number(/\d+/.exec(first)?.[0]) + 1000;
    // The next command comes a second later, when its id is already taken.
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

function raise(team: Stage, by: string): string {
  return idOf(team.as(by, 'request.raise', { kind: 'permission', memberId: by, content: 'May I?' }));
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

describe('F41: work that a gate keeps rejecting', () => {
  test('goes to a person after five rejections, once, with its result', () => {
    const { team, taskId } = rejected(4);
    expect(gates(team)).toEqual([]);
    team.as('@system', 'task.reject', { taskId, feedback: 'no tests', result: 'the work' });
    expect(gates(team)).toMatchObject([
      {
        kind: 'gate',
        status: 'pending',
        memberId: 'ann',
        taskId,
        content: `Task #${taskId} was sent back 5 times. The last feedback: no tests`,
        detail: { epoch: 1, result: 'the work' },
      },
    ]);
    const [asked] = gates(team);
    expect((asked?.deadline?.getTime() ?? 0) - (asked?.requestedAt.getTime() ?? 0)).toBe(24 * 3_600_000);
    team.as('@system', 'task.reject', { taskId, feedback: 'still none' });
    expect(team.as('@system', 'request.raise', { kind: 'gate', memberId: 'ann', taskId, content: 'again' })).toEqual(
      [],
    );
    expect(gates(team)).toHaveLength(1);
  });

  test('is counted across a change of its holder, and from zero after a person rejected it', () => {
    const { team, taskId } = rejected(4);
    team.as('@system', 'member.leave', { memberId: 'ann', returning: true });
    team.as('@system', 'member.join', { name: 'ann' });
    team.as('ann', 'task.claim', { taskId });
    team.as('@system', 'task.reject', { taskId, feedback: 'no' });
    const [asked] = gates(team);
    expect(asked?.detail).toStrictEqual({ epoch: 3 });
    team.as('@user', 'request.answer', { requestId: asked?.id ?? '', approve: false });
    // Without words of the person those of the gate stay.
    expect(team.state.tasks.get(taskId)).toMatchObject({ rejections: 0, status: 'pending', feedback: 'no' });
    team.as('ann', 'task.claim', { taskId });
    for (let i = 0; i < 4; i++) team.as('@system', 'task.reject', { taskId, feedback: 'no' });
    expect(gates(team)).toHaveLength(1);
    team.as('@system', 'task.reject', { taskId, feedback: 'no' });
    expect(gates(team)).toHaveLength(2);
  });

  test.each([
    ['completed', (team: Stage, taskId: string) => team.as('ann', 'task.complete', { taskId })],
    ['failed', (team: Stage, taskId: string) => team.as('ann', 'task.fail', { taskId, reason: 'x' })],
    ['released', (team: Stage, taskId: string) => team.as('ann', 'task.release', { taskId })],
    ['deleted', (team: Stage, taskId: string) => team.as('lead', 'task.delete', { taskId })],
    [
      'given to another',
      (team: Stage, taskId: string) => team.as('lead', 'task.assign', { taskId, assigneeId: 'bob' }),
    ],
  ])('no longer waits for a person once it is %s', (_what, end) => {
    const { team, taskId } = rejected(5);
    end(team, taskId);
    expect(gates(team)).toMatchObject([{ status: 'withdrawn' }]);
  });

  test('the words of a person replace those of a gate; the reason of the release is their beginning', () => {
    const { team, taskId } = rejected(5);
    const [asked] = gates(team);
    const feedback = `${'Do it again. '.repeat(200)}\nPlease`;
    const events = team.as('@user', 'request.answer', { requestId: asked?.id ?? '', approve: false, feedback });
    expect(team.state.tasks.get(taskId)?.feedback).toBe(feedback);
    const released = events.find(({ type }) => type === 'task:released') as { reason?: string } | undefined;
    expect(released?.reason).toMatch(/^sent back: Do it again\. Do it/);
    expect(released?.reason?.length).toBeLessThanOrEqual(900);
  });

  test('that is reopened starts with no rejections', () => {
    const { team, taskId } = rejected(5);
    team.as('ann', 'task.complete', { taskId });
    team.as('lead', 'task.reopen', { taskId });
    expect(team.state.tasks.get(taskId)).toMatchObject({ rejections: 0, feedback: undefined });
  });

  function rejected(times: number) {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    for (let i = 0; i < times; i++) team.as('@system', 'task.reject', { taskId, feedback: 'no' });
    return { team, taskId };
  }

  test('is asked about although a question about the same task names another member, which holds nothing back', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    const asks = { kind: 'gate', memberId: 'bob', taskId, content: 'May I?' } as const;
    team.as('@system', 'request.raise', asks);
    expect(types(team.as('@system', 'request.raise', { ...asks, memberId: 'ann' }))).toEqual(['request:raised']);
    const held = teamOf('ann', 'bob');
    held.task();
    held.as('ann', 'task.claim', { taskId });
    held.as('@system', 'request.raise', asks);
    held.as('@system', 'member.place', { memberId: 'ann', hostId: 'h1' });
    expect(held.view(taskId).status).toBe('pending');
  });

  function gates(team: Stage) {
    return [...team.state.requests.values()].filter(({ kind }) => kind === 'gate');
  }
});

describe('a member that was given up', () => {
  const ask = { kind: 'restart', memberId: 'ann', content: 'It crashed again and again' } as const;

  test('is reported to a person only by Troupe, once, and only if it has stopped for good', () => {
    const team = teamOf('ann');
    expect(team.refuse('@system', 'request.raise', ask).code).toBe('conflict');
    team.as('@system', 'member.leave', { memberId: 'ann', returning: true });
    expect(team.refuse('@system', 'request.raise', ask).code).toBe('conflict');
    team.as('@system', 'member.leave', { memberId: 'ann' });
    for (const by of ['ann', 'lead', '@user']) expect(team.refuse(by, 'request.raise', ask).code).toBe('not_allowed');
    expect(team.refuse('@system', 'request.raise', { ...ask, memberId: 'eve' }).code).toBe('not_found');
    const id = idOf(team.as('@system', 'request.raise', ask));
    expect(request(team, id)).toMatchObject({ ...ask, id, status: 'pending' });
    expect(team.as('@system', 'request.raise', ask)).toEqual([]);
    expect(team.refuse('lead', 'request.answer', { requestId: id, approve: true }).code).toBe('not_allowed');
  });

  test.each([
    ['it is back', (team: Stage) => team.as('lead', 'member.join', { name: 'ann' })],
    ['its team is closed', (team: Stage) => team.as('@user', 'team.close', { force: true })],
  ])('no longer waits for a person once %s', (_when, end) => {
    const team = teamOf('ann');
    team.as('@system', 'member.leave', { memberId: 'ann' });
    const id = idOf(team.as('@system', 'request.raise', ask));
    end(team);
    expect(request(team, id).status).toBe('withdrawn');
  });
});

test('a shutdown request may give the member a time to refuse', () => {
  const team = teamOf('ann');
  const id = idOf(team.do('shutdown.request', { memberId: 'ann', within: 5_000 }));
  expect(request(team, id).deadline).toEqual(new Date(team.now + 5_000));
});

test('a request of a member about its task outlives the claim, unless it is about the work', () => {
  const team = teamOf('ann', 'bob');
  const taskId = team.task();
  team.as('ann', 'task.claim', { taskId });
  const id = idOf(team.as('ann', 'request.raise', { kind: 'permission', memberId: 'ann', taskId, content: 'May I?' }));
  const gate = idOf(team.as('@system', 'request.raise', { kind: 'gate', memberId: 'ann', taskId, content: 'x' }));
  team.as('ann', 'task.release', { taskId });
  expect([id, gate].map((one) => request(team, one).status)).toEqual(['pending', 'withdrawn']);
});

test('a silent member is asked about no more once it is heard of; another one still is', () => {
  const team = teamOf('ann', 'bob');
  const ask = (memberId: string) =>
    idOf(team.as('@system', 'request.raise', { kind: 'hang', memberId, content: 'It is silent.' }));
  const ids = [ask('ann'), ask('bob')];
  team.as('ann', 'usage.record', { memberId: 'ann', usage: { turns: 1 } });
  expect(ids.map((id) => request(team, id).status)).toEqual(['withdrawn', 'pending']);
});

test('a request that only a person answers has a deadline: ten minutes for a permission', () => {
  const team = teamOf('ann');
  team.as('ann', 'request.raise', { kind: 'permission', memberId: 'ann', content: 'May I?' });
  team.as('ann', 'request.raise', { kind: 'permission', memberId: 'ann', content: 'May I?', within: 5 });
  const waits = [...team.state.requests.values()].map(
    ({ deadline, requestedAt }) => (deadline?.getTime() ?? 0) - requestedAt.getTime(),
  );
  expect(waits).toEqual([600_000, 5]);
});

describe('an answer and what follows from it', () => {
  test('are one step: a yes restarts a crashed member with its session', () => {
    const team = teamOf();
    const agent = { kind: 'exec', command: ['true'] } as const;
    team.do('member.join', { name: 'ann', agent, sessionId: 'first' });
    team.as('@system', 'member.leave', { memberId: 'ann' });
    team.as('@system', 'request.raise', { kind: 'restart', memberId: 'ann', content: 'It keeps crashing.' });
    const requestId = [...team.state.requests.keys()].at(-1) ?? '';
    const events = team.as('@user', 'request.answer', { requestId, approve: true }, 'once');
    expect(events.map(({ type }) => type)).toEqual(['request:answered', 'teammate:joined']);
    expect(team.state.members.get('ann')).toMatchObject({ status: 'spawning', sessionId: 'first' });
    expect(team.as('@user', 'request.answer', { requestId, approve: true }, 'once')).toEqual([]);
  });

  test('are refused together: the request still waits', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann' });
    team.as('@system', 'member.leave', { memberId: 'ann' });
    team.as('@system', 'request.raise', { kind: 'restart', memberId: 'ann', content: 'It keeps crashing.' });
    const requestId = [...team.state.requests.keys()].at(-1) ?? '';
    expect(team.refuse('@user', 'request.answer', { requestId, approve: true }).code).toBe('unsupported');
    expect(team.state.requests.get(requestId)?.status).toBe('pending');
  });
});

describe('what a request is about', () => {
  test('has choices only if Troupe gives them', () => {
    const team = teamOf('ann');
    const question = { choices: ['a', 'b'], fallback: 'a' };
    const raised = (by: string, content: string) =>
      request(team, idOf(team.as(by, 'request.raise', { kind: 'hang', memberId: 'ann', content, question })));
    expect(raised('ann', 'one').question).toBeUndefined();
    expect(raised('@system', 'two').question).toMatchObject({ choices: ['a', 'b'] });
  });

  test('is asked about once for each account', () => {
    const team = teamOf('ann', 'bob');
    const ask = (memberId: string, account: string) =>
      team.as('@system', 'request.raise', { kind: 'account', memberId, content: 'x', detail: { account } });
    expect(ask('ann', 'claude')).toHaveLength(1);
    expect(ask('bob', 'claude')).toEqual([]);
    expect(ask('bob', 'codex')).toHaveLength(1);
  });

  test('that was given up waits as long as Troupe says', () => {
    const team = teamOf('ann');
    team.as('@system', 'member.leave', { memberId: 'ann', reason: 'crashed too often' });
    const raised = idOf(
      team.as('@system', 'request.raise', { kind: 'restart', memberId: 'ann', content: 'Again?', within: 5_000 }),
    );
    expect(request(team, raised).deadline?.getTime()).toBe(team.now + 5_000);
  });
});

test('an answer is waited for a day, for a permission ten minutes, for a review an hour', () => {
  const [minute, hour] = [60_000, 3_600_000];
  const day = 24 * hour;
  expect(ANSWER_WITHIN).toEqual({
    permission: 10 * minute,
    gate: day,
    budget: day,
    restart: day,
    hang: day,
    account: day,
    work: day,
    review: hour,
    question: day,
  });
  expect([SHUTDOWN_WITHIN, LEAD_GRACE_MS]).toEqual([10 * minute, minute]);
  expect([SHORTEST_LEASE_MS, LONGEST_LEASE_MS]).toEqual([1_000, 7 * day]);
});
