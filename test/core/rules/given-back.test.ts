import { describe, expect, test } from 'vitest';
import { TASKS_PER_TEAM } from '../../../src/core/limits.ts';
import { teamOf, types } from '../stage.ts';
import type { Stage } from '../stage.ts';

describe('a release', () => {
  test('frees a task under a new epoch', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    expect(team.as('ann', 'task.release', { taskId, reason: 'stuck' })).toMatchObject([
      { type: 'task:released', memberId: 'ann', epoch: 2, reason: 'stuck' },
    ]);
    expect(team.view(taskId)).toMatchObject({ status: 'pending', epoch: 2 });
    expect(team.view(taskId).assigneeId).toBeUndefined();
    expect(team.claimNext('bob')).toBe(taskId);
    expect(team.as('@user', 'task.release', { taskId })).toMatchObject([{ memberId: 'bob', by: '@user' }]);
  });

  test('keeps a reservation', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task({ assigneeId: 'ann' });
    team.as('ann', 'task.claim', { taskId });
    team.as('ann', 'task.release', { taskId });
    expect(team.claimNext('bob')).toBeUndefined();
    expect(team.claimNext('ann')).toBe(taskId);
  });

  test('is refused to others, and for a task without a holder', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    expect(team.refuse('ann', 'task.release', { taskId })).toMatchObject({
      code: 'not_allowed',
      message: `ann may not release task ${taskId} (pending): only its holder may`,
    });
    expect(team.refuse('lead', 'task.release', { taskId })).toMatchObject({
      code: 'conflict',
      message: `Cannot release task ${taskId} (pending): nobody holds it`,
    });
    team.as('ann', 'task.claim', { taskId });
    expect(team.refuse('bob', 'task.release', { taskId })).toMatchObject({
      code: 'not_allowed',
      message: `bob may not release task ${taskId} (in progress, held by ann): only its holder may`,
    });
  });
});

describe.each([
  ['task.complete', 'task:completed', 'completed'],
  ['task.fail', 'task:failed', 'failed'],
] as const)('%s', (type, event, status) => {
  const end = (team: Stage, by: string, taskId: string, seen: { epoch?: number; revision?: number } = {}) =>
    type === 'task.fail'
      ? team.as(by, type, { taskId, reason: 'broken', ...seen })
      : team.as(by, type, { taskId, result: 'done', ...seen });

  test('ends a task that the caller holds', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    expect(end(team, 'ann', taskId, { epoch: 1 })).toMatchObject([{ type: event, memberId: 'ann' }]);
    const text = type === 'task.fail' ? { failure: 'broken' } : { result: 'done' };
    expect(team.view(taskId)).toMatchObject({
      status,
      assigneeId: 'ann',
      epoch: 1,
      completedAt: expect.any(Date) as Date,
      ...text,
    });
  });

  test('ends a task for its holder, and one without a holder', () => {
    const team = teamOf('ann');
    const held = team.task();
    const free = team.task();
    const blocked = team.task({ dependencies: [free] });
    team.as('ann', 'task.claim', { taskId: held });
    for (const taskId of [held, blocked, free]) end(team, '@user', taskId);
    expect(team.view(held)).toMatchObject({ status, assigneeId: 'ann' });
    expect(team.view(free).status).toBe(status);
    expect(team.view(free).assigneeId).toBeUndefined();
  });

  test('of a blocked task is refused with its open dependencies', () => {
    const team = teamOf('ann', 'bob');
    const first = team.task();
    const second = team.task({ dependencies: [first], assigneeId: 'bob' });
    team.as('ann', 'task.claim', { taskId: first });
    const verb = type.slice('task.'.length);
    const input = { taskId: second, ...(type === 'task.fail' && { reason: 'x' }) } as {
      taskId: string;
      reason: string;
    };
    expect(team.refuse('bob', type, input)).toMatchObject({
      code: 'blocked',
      message: `Cannot ${verb} task ${second}: it waits for task ${first} (in progress, held by ann)`,
    });
  });

  test('is refused to others and a second time', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task({ assigneeId: 'ann' });
    const verb = type.slice('task.'.length);
    const input = { taskId, ...(type === 'task.fail' && { reason: 'x' }) } as { taskId: string; reason: string };
    for (const by of ['ann', 'bob']) {
      expect(team.refuse(by, type, input)).toMatchObject({
        code: 'not_allowed',
        // Only a caller that could claim it gets this advice.
        message: `${by} may not ${verb} task ${taskId} (pending): only its holder may${by === 'ann' ? '; claim it first' : ''}`,
      });
    }
    team.as('ann', 'task.claim', { taskId });
    expect(team.refuse('bob', type, input)).toMatchObject({ code: 'not_allowed' });
    end(team, 'ann', taskId);
    for (const by of ['ann', 'bob', 'lead']) {
      expect(team.refuse(by, type, input)).toMatchObject({
        code: 'conflict',
        message: expect.stringMatching(
          new RegExp(`^Cannot ${verb} task ${taskId} \\(${status}.*\\): it is finished; reopen it first$`),
        ) as string,
      });
    }
    expect(team.refuse('lead', type, { ...input, taskId: '9' })).toMatchObject({ code: 'not_found' });
  });
});

test('a task that a member completes without holding it has that member as its assignee', () => {
  const team = teamOf('ann');
  const taskId = team.task();
  team.do('task.complete', { taskId });
  expect(team.view(taskId).assigneeId).toBe('lead');
});

describe('a reopened task', () => {
  test('is as before its first claim, under a new epoch', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task({}, 'bob');
    team.as('ann', 'task.claim', { taskId });
    team.as('ann', 'task.complete', { taskId, result: 'done' });
    expect(team.as('bob', 'task.reopen', { taskId, reason: 'wrong' })).toMatchObject([
      { type: 'task:reopened', by: 'bob', epoch: 2, reason: 'wrong' },
    ]);
    const view = team.view(taskId);
    expect(view).toMatchObject({ status: 'pending', epoch: 2 });
    for (const key of ['assigneeId', 'result', 'failure', 'startedAt', 'completedAt'] as const) {
      expect(view[key]).toBeUndefined();
    }
    expect(team.claimNext('bob')).toBe(taskId);
  });

  test('is reopened by managers and its creator, and only after its end', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    expect(team.refuse('lead', 'task.reopen', { taskId })).toMatchObject({
      code: 'conflict',
      message: `Cannot reopen task ${taskId} (pending): it is open; update or assign it instead`,
    });
    team.as('ann', 'task.claim', { taskId });
    expect(team.refuse('lead', 'task.reopen', { taskId })).toMatchObject({ code: 'conflict' });
    team.as('ann', 'task.complete', { taskId });
    expect(team.refuse('ann', 'task.reopen', { taskId })).toMatchObject({
      code: 'not_allowed',
      message: `ann may not reopen task ${taskId}: ask lead or a person`,
    });
    expect(team.refuse('lead', 'task.reopen', { taskId: '9' })).toMatchObject({ code: 'not_found' });
  });

  test('that was deleted has its dependencies again, but no dependents', () => {
    const team = teamOf('ann');
    const first = team.task();
    const taskId = team.task({ dependencies: [first] });
    const last = team.task({ dependencies: [taskId] });
    team.do('task.delete', { taskId });
    team.do('task.reopen', { taskId });
    expect(team.view(taskId)).toMatchObject({ status: 'blocked', blockedBy: [first], blocks: [], epoch: 2 });
    expect(team.view(last)).toMatchObject({ status: 'pending', dependencies: [] });
  });

  test('that was deleted loses dependencies that were deleted in the meantime', () => {
    const team = teamOf('ann');
    const first = team.task();
    const taskId = team.task({ dependencies: [first] });
    team.do('task.delete', { taskId });
    team.do('task.delete', { taskId: first });
    team.do('task.reopen', { taskId });
    team.do('task.reopen', { taskId: first });
    expect(team.view(taskId)).toMatchObject({ status: 'pending', dependencies: [] });
  });

  test('blocks its dependents that have not started, and no others', () => {
    const team = teamOf('ann', 'bob', 'cyd');
    const taskId = team.task();
    const [waiting, begun, over] = [1, 2, 3].map(() => team.task({ dependencies: [taskId] })) as [
      string,
      string,
      string,
    ];
    team.do('task.complete', { taskId });
    team.as('ann', 'task.claim', { taskId: begun });
    team.as('bob', 'task.claim', { taskId: over });
    team.as('bob', 'task.complete', { taskId: over });
    team.do('task.reopen', { taskId });
    expect([waiting, begun, over].map((id) => team.view(id).status)).toEqual(['blocked', 'in_progress', 'completed']);
    expect(team.refuse('cyd', 'task.claim', { taskId: waiting })).toMatchObject({ code: 'blocked' });
    team.as('ann', 'task.release', { taskId: begun });
    expect(team.view(begun).status).toBe('blocked');
    expect(team.claimNext('ann')).toBe(taskId);
    const unblocked = team.as('ann', 'task.complete', { taskId });
    expect(unblocked.slice(1)).toMatchObject([
      { type: 'task:unblocked', taskId: waiting },
      { type: 'task:unblocked', taskId: begun },
    ]);
    expect([team.claimNext('ann'), team.claimNext('bob')]).toEqual([waiting, begun]);
  });

  test('is not reserved for a member that has left, because nobody could ever claim it', () => {
    for (const end of ['task.complete', 'task.fail', 'task.delete'] as const) {
      const team = teamOf('ann', 'bob');
      const taskId = team.task({ assigneeId: 'ann' });
      team.as('ann', 'task.claim', { taskId });
      if (end === 'task.fail') team.do(end, { taskId, reason: 'broken' });
      else team.do(end, { taskId });
      team.do('member.leave', { memberId: 'ann' });
      expect(types(team.do('task.reopen', { taskId }))).toEqual(['task:reopened', 'task:assigned']);
      expect(team.view(taskId).assigneeId).toBeUndefined();
      expect(team.claimNext('bob')).toBe(taskId);
    }
  });

  test('stays reserved for a live member and for a returning one', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task({ assigneeId: 'ann' });
    team.do('task.complete', { taskId });
    expect(types(team.do('task.reopen', { taskId }))).toEqual(['task:reopened']);
    expect(team.view(taskId).assigneeId).toBe('ann');
    team.do('task.complete', { taskId });
    team.do('member.leave', { memberId: 'ann', returning: true });
    expect(types(team.do('task.reopen', { taskId }))).toEqual(['task:reopened']);
    expect(team.claimNext('bob')).toBeUndefined();
  });

  test('counts against the limit of tasks if it was deleted', () => {
    const team = teamOf();
    for (let i = 0; i < TASKS_PER_TEAM; i++) team.task();
    const limit = {
      code: 'limit',
      message: 'Team alpha has 10000 tasks, the limit: delete some or make another team',
    };
    expect(team.refuse('lead', 'task.create', { title: 'one more' })).toMatchObject(limit);
    team.do('task.delete', { taskId: '7' });
    expect(team.task()).toBe('10001');
    expect(team.refuse('lead', 'task.reopen', { taskId: '7' })).toMatchObject(limit);
    team.do('task.complete', { taskId: '8' });
    team.do('task.reopen', { taskId: '8' });
  });
});

describe('a rejected task', () => {
  test('names the gate', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    expect(team.as('@system', 'task.reject', { taskId, feedback: 'no', gate: './gate.sh' })).toMatchObject([
      { type: 'task:rejected', gate: './gate.sh' },
    ]);
  });

  test.each(['@system', '@user'])('by %s stays with its holder, which gets the reason', (by) => {
    const team = teamOf('ann');
    const taskId = team.task();
    expect(team.view(taskId)).toMatchObject({ rejections: 0, feedback: undefined });
    team.as('ann', 'task.claim', { taskId });
    const { epoch, revision } = team.view(taskId);
    expect(team.as(by, 'task.reject', { taskId, feedback: 'two tests fail', epoch, revision })).toMatchObject([
      { type: 'task:rejected', taskId, memberId: 'ann', feedback: 'two tests fail' },
    ]);
    expect(team.view(taskId)).toMatchObject({
      status: 'in_progress',
      assigneeId: 'ann',
      epoch,
      revision: revision + 1,
      rejections: 1,
      feedback: 'two tests fail',
    });
    team.as(by, 'task.reject', { taskId, feedback: 'one test fails' });
    team.as('ann', 'task.complete', { taskId });
    expect(team.view(taskId)).toMatchObject({ status: 'completed', rejections: 2, feedback: 'one test fails' });
  });

  test.each([
    [
      'the model refused',
      { refused: true },
      'The model refused task #1. x\nYes completes the task as it is. No gives it back, to be done again, with what you write.',
      { refused: true },
    ],
    [
      'the gate cannot run',
      { unable: true },
      'No gate judged task #1. x\nYes completes the task without the gate. No sends it back. After you fix the gate, it can judge the same work again.',
      {},
    ],
    [
      'nobody approved what the work makes of the gate',
      { unable: true, refused: true, unapproved: 'h1' },
      'No gate judged task #1. x\nYes lands this work unjudged, and approves what it makes of the gate or the setup: that runs for later work. No sends it back.',
      { approves: 'h1' },
    ],
  ])('goes to a person, unchanged, if %s', (_why, how, content, detail) => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    expect(team.as('@system', 'task.reject', { taskId, feedback: 'x', ...how })).toMatchObject([
      { type: 'request:raised', kind: 'gate', memberId: 'ann', taskId, content, detail: { epoch: 1, ...detail } },
    ]);
    expect(team.view(taskId)).toMatchObject({ status: 'in_progress', rejections: 0 });
    expect(team.as('@system', 'task.reject', { taskId, feedback: 'x', ...how })).toEqual([]);
    // Long feedback leaves room for what an answer means.
    const other = team.task();
    team.as('ann', 'task.claim', { taskId: other });
    const [raised] = team.as('@system', 'task.reject', { taskId: other, feedback: 'x'.repeat(12_000), ...how });
    const meaning = content.slice(content.indexOf('\n'));
    expect((raised as { content?: string }).content?.endsWith(meaning)).toBe(true);
  });

  test('is rejected by a gate or a person only', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    for (const by of ['ann', 'bob', 'lead', 'eve']) {
      expect(team.refuse(by, 'task.reject', { taskId, feedback: 'x' })).toMatchObject({
        code: 'not_allowed',
        message: `${by} may not send back task ${taskId}: only a gate or a person may`,
      });
    }
  });

  test('is one with a holder', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    const refusal = () => team.refuse('@system', 'task.reject', { taskId, feedback: 'x' });
    expect(refusal()).toMatchObject({
      code: 'conflict',
      message: `Cannot send back task ${taskId} (pending): nobody works on it`,
    });
    team.do('task.complete', { taskId });
    expect(refusal().code).toBe('conflict');
    team.do('task.delete', { taskId });
    expect(refusal().code).toBe('not_found');
  });
});
