import { describe, expect, test } from 'vitest';
import { TASKS_PER_TEAM } from '../../../src/core/limits.ts';
import { teamOf, types } from '../stage.ts';
import type { Stage } from '../stage.ts';

describe('a new task', () => {
  test('has a number of its own, what was said and defaults for the rest', () => {
    const team = teamOf('ann');
    expect(types(team.as('ann', 'task.create', { title: 'first' }))).toEqual(['task:created']);
    expect(team.view('1')).toMatchObject({
      id: '1',
      teamId: 'alpha',
      title: 'first',
      description: '',
      status: 'pending',
      priority: 'medium',
      reserved: false,
      dependencies: [],
      blockedBy: [],
      blocks: [],
      onDependencyFailure: 'block',
      epoch: 0,
      revision: 1,
      createdBy: 'ann',
      createdAt: expect.any(Date) as Date,
    });
    const said = {
      title: 'second',
      description: 'd',
      activeForm: 'Doing',
      priority: 'critical' as const,
      assigneeId: 'ann',
      dependencies: ['1'],
      onDependencyFailure: 'proceed' as const,
      metadata: { a: 1 },
    };
    team.as('@user', 'task.create', said);
    expect(team.view('2')).toMatchObject({ ...said, status: 'blocked', reserved: true, createdBy: '@user' });
  });

  test('waits once for a task that is named twice', () => {
    const team = teamOf();
    team.task();
    const taskId = team.task({ dependencies: ['1', '1'] });
    expect(team.view(taskId).dependencies).toEqual(['1']);
  });

  test('is refused with a dependency or an assignee that is not there', () => {
    const team = teamOf();
    team.task();
    team.do('task.delete', { taskId: '1' });
    expect(team.refuse('lead', 'task.create', { title: 't', dependencies: ['9'] })).toMatchObject({
      code: 'not_found',
      message: 'Task "9" of team alpha does not exist: list the tasks to see which there are',
    });
    expect(team.refuse('lead', 'task.create', { title: 't', dependencies: ['1'] })).toMatchObject({
      code: 'not_found',
      message: 'Task "1" of team alpha was deleted: list the tasks to see which there are',
    });
    expect(team.refuse('lead', 'task.create', { title: 't', assigneeId: 'eve' })).toMatchObject({
      code: 'not_found',
      message: 'Team alpha has no member "eve"; it has lead',
    });
    expect(team.refuse('eve', 'task.create', { title: 't' })).toMatchObject({ code: 'not_found' });
    expect(team.task()).toBe('2');
  });
});

describe('an update of a task', () => {
  test('changes what it mentions, raises the revision and nothing else', () => {
    const team = teamOf('ann');
    const taskId = team.task({ metadata: { a: 1 } });
    const before = team.view(taskId);
    const changes = {
      title: 'new',
      description: 'd',
      activeForm: 'Doing',
      priority: 'low' as const,
      metadata: { b: 2 },
    };
    expect(types(team.as('ann', 'task.update', { taskId, ...changes }))).toEqual(['task:updated']);
    expect(team.view(taskId)).toEqual({
      ...before,
      ...changes,
      metadata: { a: 1, b: 2 },
      revision: 2,
      updatedAt: expect.any(Date) as Date,
    });
    expect(team.view(taskId).updatedAt.getTime()).toBeGreaterThan(before.updatedAt.getTime());
  });

  test.each([
    ['block', 'proceed', ['task:updated', 'task:unblocked'], 'pending'],
    ['block', 'block', ['task:updated'], 'blocked'],
    ['block', 'fail', ['task:updated', 'task:failed'], 'failed'],
    ['proceed', 'block', ['task:updated'], 'blocked'],
    ['proceed', 'fail', ['task:updated', 'task:failed'], 'failed'],
    ['proceed', 'proceed', ['task:updated'], 'pending'],
  ] as const)('of its policy from %s to %s after a dependency failed: %j, then %s', (from, to, events, status) => {
    const team = teamOf('ann');
    const dependency = team.task();
    const done = team.task();
    const taskId = team.task({ dependencies: [dependency, done], onDependencyFailure: from });
    team.do('task.complete', { taskId: done });
    team.do('task.fail', { taskId: dependency, reason: 'no' });
    expect(types(team.do('task.update', { taskId, onDependencyFailure: to }))).toEqual(events);
    expect(team.view(taskId).status).toBe(status);
    expect(team.claimNext('ann')).toBe(status === 'pending' ? taskId : undefined);
  });

  test('of its policy unblocks nothing while another dependency is open', () => {
    const team = teamOf();
    const dependency = team.task();
    const open = team.task();
    const taskId = team.task({ dependencies: [dependency, open] });
    team.do('task.fail', { taskId: dependency, reason: 'no' });
    expect(types(team.do('task.update', { taskId, onDependencyFailure: 'proceed' }))).toEqual(['task:updated']);
    expect(team.view(taskId)).toMatchObject({ status: 'blocked', blockedBy: [open] });
  });

  test('is refused to those who are not there, and of what is not there', () => {
    const team = teamOf();
    const taskId = team.task();
    expect(team.refuse('eve', 'task.update', { taskId, title: 'x' })).toMatchObject({ code: 'not_found' });
    expect(team.refuse('lead', 'task.update', { taskId: '9', title: 'x' })).toMatchObject({ code: 'not_found' });
  });
});

describe('an assignment', () => {
  test('reserves a task for a member, for another, and for nobody', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    for (const assigneeId of ['ann', 'bob', null]) {
      expect(team.do('task.assign', { taskId, assigneeId })).toMatchObject([{ type: 'task:assigned', epoch: 0 }]);
      expect(team.view(taskId)).toMatchObject({ status: 'pending', reserved: assigneeId !== null });
      expect(team.view(taskId).assigneeId).toBe(assigneeId ?? undefined);
      expect(team.do('task.assign', { taskId, assigneeId })).toEqual([]);
    }
  });

  test('takes a task from its holder under a new epoch', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    expect(team.do('task.assign', { taskId, assigneeId: 'ann' })).toEqual([]);
    team.do('task.assign', { taskId, assigneeId: 'bob' });
    expect(team.view(taskId)).toMatchObject({ status: 'pending', assigneeId: 'bob', epoch: 2 });
    expect(team.view(taskId).startedAt).toBeUndefined();
    expect(team.refuse('ann', 'task.complete', { taskId, epoch: 1 })).toMatchObject({ code: 'stale_epoch' });
    team.as('bob', 'task.claim', { taskId });
    team.do('task.assign', { taskId, assigneeId: null });
    expect(team.view(taskId)).toMatchObject({ status: 'pending', epoch: 4, reserved: false });
    expect(team.claimNext('ann')).toBe(taskId);
  });

  test('is made by those who decide, by its maker, by its assignee; of a free one also to oneself', () => {
    const team = teamOf('ann', 'bob');
    const mine = team.task({}, 'ann');
    team.as('ann', 'task.assign', { taskId: mine, assigneeId: 'bob' });
    team.as('bob', 'task.assign', { taskId: mine, assigneeId: 'lead' });
    const free = team.task();
    expect(team.refuse('ann', 'task.assign', { taskId: free, assigneeId: 'bob' })).toMatchObject({
      code: 'not_allowed',
      message: `ann may not assign task ${free}: ask lead or a person`,
    });
    team.as('ann', 'task.assign', { taskId: free, assigneeId: 'ann' });
    for (const assigneeId of ['bob', null]) {
      expect(team.refuse('bob', 'task.assign', { taskId: free, assigneeId })).toMatchObject({ code: 'not_allowed' });
    }
    const held = team.task();
    team.as('ann', 'task.claim', { taskId: held });
    expect(team.refuse('bob', 'task.assign', { taskId: held, assigneeId: 'bob' })).toMatchObject({
      code: 'not_allowed',
    });
    team.as('ann', 'task.assign', { taskId: held, assigneeId: 'bob' });
  });

  test('is refused to its maker and its assignee once they have left', () => {
    const team = teamOf('ann', 'bob');
    const made = team.task({}, 'ann');
    const kept = team.task({ assigneeId: 'ann' });
    team.do('member.leave', { memberId: 'ann', returning: true });
    for (const taskId of [made, kept]) {
      for (const assigneeId of ['bob', null]) {
        expect(team.refuse('ann', 'task.assign', { taskId, assigneeId }).code).toBe('member_stopped');
      }
      expect(team.refuse('ann', 'task.delete', { taskId }).code).toMatch(/member_stopped|not_allowed/);
    }
  });

  test('is refused of an ended task, and to nobody who is there', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    expect(team.refuse('lead', 'task.assign', { taskId, assigneeId: 'eve' })).toMatchObject({ code: 'not_found' });
    team.do('task.complete', { taskId });
    expect(team.refuse('lead', 'task.assign', { taskId, assigneeId: 'ann' })).toMatchObject({
      code: 'conflict',
      message: `Cannot assign task ${taskId} (completed): reopen it first`,
    });
  });
});

describe('a release', () => {
  test('gives a task back under a new epoch', () => {
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

  test('is refused to others, and of what nobody holds', () => {
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

  test('ends a task in the place of its holder, and one that nobody holds', () => {
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

  test('of one that waits is refused with what it waits for', () => {
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
      code: 'not_allowed',
      message: `bob may not ${verb} task ${second} (blocked): it waits for task ${first} (in progress, held by ann)`,
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
        message: `${by} may not ${verb} task ${taskId} (pending): only its holder may`,
      });
    }
    team.as('ann', 'task.claim', { taskId });
    expect(team.refuse('bob', type, input)).toMatchObject({ code: 'not_allowed' });
    end(team, 'ann', taskId);
    expect(team.refuse('ann', type, input)).toMatchObject({ code: 'not_allowed' });
    expect(team.refuse('lead', type, input)).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        new RegExp(`^Cannot ${verb} task ${taskId} \\(${status}.*\\): it is over; reopen it first$`),
      ) as string,
    });
    expect(team.refuse('lead', type, { ...input, taskId: '9' })).toMatchObject({ code: 'not_found' });
  });
});

test('a task that a member completes without holding it is shown as done by that member', () => {
  const team = teamOf('ann');
  const taskId = team.task();
  team.do('task.complete', { taskId });
  expect(team.view(taskId).assigneeId).toBe('lead');
});

describe('a reopened task', () => {
  test('is as it was before anybody took it, under a new epoch', () => {
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

  test('is opened by those who decide and by its maker, and only when it is over', () => {
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

  test('that was deleted waits again for what it waited for, and nobody waits for it', () => {
    const team = teamOf('ann');
    const first = team.task();
    const taskId = team.task({ dependencies: [first] });
    const last = team.task({ dependencies: [taskId] });
    team.do('task.delete', { taskId });
    team.do('task.reopen', { taskId });
    expect(team.view(taskId)).toMatchObject({ status: 'blocked', blockedBy: [first], blocks: [], epoch: 2 });
    expect(team.view(last)).toMatchObject({ status: 'pending', dependencies: [] });
  });

  test('that was deleted forgets dependencies that were deleted meanwhile', () => {
    const team = teamOf('ann');
    const first = team.task();
    const taskId = team.task({ dependencies: [first] });
    team.do('task.delete', { taskId });
    team.do('task.delete', { taskId: first });
    team.do('task.reopen', { taskId });
    team.do('task.reopen', { taskId: first });
    expect(team.view(taskId)).toMatchObject({ status: 'pending', dependencies: [] });
  });

  test('blocks those that wait for it and have not begun, and no others', () => {
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

  test('is not reserved for a member that is gone: nobody could ever claim it', () => {
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

  test('stays reserved for a live member and for one that will be back', () => {
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

  test('counts against the limit of tasks when it was deleted', () => {
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

describe('a deleted task', () => {
  test('is gone for all but those who ask for it, and its holder can write no more', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    expect(team.do('task.delete', { taskId })).toMatchObject([{ type: 'task:deleted', epoch: 2 }]);
    expect(team.view(taskId)).toMatchObject({ status: 'deleted', epoch: 2 });
    for (const type of ['task.claim', 'task.complete', 'task.release', 'task.update', 'task.delete'] as const) {
      expect(team.refuse('ann', type, { taskId })).toMatchObject({
        code: 'not_found',
        message: `Task "${taskId}" of team alpha was deleted: list the tasks to see which there are`,
      });
    }
    expect(team.state.index.counts).toMatchObject({ deleted: 1, in_progress: 0 });
  });

  test('is deleted by those who decide and by its maker', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task({}, 'bob');
    expect(team.refuse('ann', 'task.delete', { taskId })).toMatchObject({
      code: 'not_allowed',
      message: `ann may not delete task ${taskId}: ask lead or a person`,
    });
    team.as('bob', 'task.delete', { taskId });
  });

  test('is waited for no longer', () => {
    const team = teamOf('ann');
    const [first, other] = [team.task(), team.task()] as const;
    const waiting = team.task({ dependencies: [first] });
    const waitingForBoth = team.task({ dependencies: [first, other] });
    const begun = team.task();
    expect(team.do('task.delete', { taskId: first })).toMatchObject([
      { type: 'task:deleted' },
      { type: 'task:unblocked', taskId: waiting },
    ]);
    expect(team.view(waiting)).toMatchObject({ status: 'pending', dependencies: [], revision: 2 });
    expect(team.view(waitingForBoth)).toMatchObject({ status: 'blocked', dependencies: [other] });
    expect(team.view(begun).revision).toBe(1);
  });

  test('in the middle of a chain lets the end go ahead', () => {
    const team = teamOf('ann');
    const [a, b, c] = [team.task(), team.task({ dependencies: ['1'] }), team.task({ dependencies: ['2'] })] as const;
    expect(types(team.do('task.delete', { taskId: b }))).toEqual(['task:deleted', 'task:unblocked']);
    expect([team.claimNext('ann'), team.claimNext('ann')]).toEqual([a, c]);
  });

  test('that had failed lets those go ahead that it blocked, and says so only to them', () => {
    const team = teamOf();
    const failed = team.task();
    const blocked = team.task({ dependencies: [failed] });
    const proceeding = team.task({ dependencies: [failed], onDependencyFailure: 'proceed' });
    team.do('task.fail', { taskId: failed, reason: 'no' });
    expect(team.do('task.delete', { taskId: failed }).slice(1)).toMatchObject([
      { type: 'task:unblocked', taskId: blocked },
    ]);
    expect(team.view(proceeding).status).toBe('pending');
  });
});

describe('a task that is sent back', () => {
  test('says which gate did it', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    expect(team.as('@system', 'task.reject', { taskId, feedback: 'no', gate: './gate.sh' })).toMatchObject([
      { type: 'task:rejected', gate: './gate.sh' },
    ]);
  });

  test.each(['@system', '@user'])('by %s stays with its holder, who is told why', (by) => {
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

  test('is sent back by a gate or a person', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    for (const by of ['ann', 'bob', 'lead', 'eve']) {
      expect(team.refuse(by, 'task.reject', { taskId, feedback: 'x' })).toMatchObject({
        code: 'not_allowed',
        message: `${by} may not send back task ${taskId}: a gate or a person does`,
      });
    }
  });

  test('is one that somebody works on', () => {
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

describe('a write that names what its caller saw', () => {
  test.each([
    'task.update',
    'task.assign',
    'task.release',
    'task.complete',
    'task.reject',
    'task.fail',
    'task.reopen',
    'task.delete',
    'task.addDependencies',
    'task.removeDependencies',
  ] as const)('is refused when that has moved on: %s', (type) => {
    const team = teamOf('ann', 'bob');
    const other = team.task();
    const taskId = team.task({ dependencies: [other] });
    if (type === 'task.reopen') team.do('task.complete', { taskId });
    if (type === 'task.release' || type === 'task.reject') {
      team.do('task.complete', { taskId: other });
      team.as('ann', 'task.claim', { taskId });
    }
    const { epoch, revision } = team.view(taskId);
    const extra = {
      'task.assign': { assigneeId: 'bob' },
      'task.reject': { feedback: 'x' },
      'task.fail': { reason: 'x' },
      'task.addDependencies': { dependencies: [team.task()] },
      'task.removeDependencies': { dependencies: [other] },
    };
    const input = { taskId, ...(extra as Record<string, object>)[type] } as {
      taskId: string;
      assigneeId: string;
      reason: string;
      feedback: string;
      dependencies: string[];
    };
    const by = type === 'task.reject' ? '@user' : 'lead';
    const before = team.view(taskId);
    expect(team.refuse(by, type, { ...input, epoch: epoch + 1 })).toMatchObject({
      code: 'stale_epoch',
      message: `Task ${taskId} is at epoch ${epoch}, not ${epoch + 1}: it changed hands; claim it again before writing`,
    });
    expect(team.refuse(by, type, { ...input, revision: revision - 1 })).toMatchObject({
      code: 'stale_revision',
      message: `Task ${taskId} is at revision ${revision}, not ${revision - 1}: read it again, then decide again`,
    });
    expect(team.view(taskId)).toEqual(before);
    expect(team.as(by, type, { ...input, epoch, revision }).length).toBeGreaterThan(0);
  });
});

describe('a member whose plan is not approved', () => {
  test('completes nothing until it is', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann', planApprovalRequired: true });
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    expect(team.refuse('ann', 'task.complete', { taskId })).toMatchObject({
      code: 'not_allowed',
      message: 'ann may only read until its plan is approved: submit a plan first',
    });
    const [submitted] = team.as('ann', 'plan.submit', { content: 'p' });
    team.do('plan.approve', { requestId: (submitted as { requestId: string }).requestId });
    team.as('ann', 'task.complete', { taskId });
  });
});
