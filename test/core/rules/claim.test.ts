import { describe, expect, test } from 'vitest';
import { decide } from '../../../src/core/decide.ts';
import { ClaimConflictError } from '../../../src/core/errors.ts';
import { commandOf, teamOf, types } from '../stage.ts';
import type { Stage } from '../stage.ts';

describe('a claim', () => {
  test('takes a ready task that is free or reserved for the caller', () => {
    const team = teamOf('ann');
    const free = team.task();
    const reserved = team.task({ assigneeId: 'ann' });
    for (const taskId of [free, reserved]) {
      expect(team.as('ann', 'task.claim', { taskId })).toMatchObject([
        { type: 'task:claimed', taskId, memberId: 'ann', epoch: 1 },
      ]);
      expect(team.view(taskId)).toMatchObject({
        status: 'in_progress',
        assigneeId: 'ann',
        epoch: 1,
        reserved: taskId === reserved,
        startedAt: expect.any(Date) as Date,
      });
    }
  });

  test.each<[string, (team: Stage, taskId: string) => void, string]>([
    ['held by another', (team, taskId) => team.as('bob', 'task.claim', { taskId }), 'in progress, held by bob'],
    ['completed', (team, taskId) => team.do('task.complete', { taskId }), 'completed'],
    ['failed', (team, taskId) => team.do('task.fail', { taskId, reason: 'no' }), 'failed: "no"'],
  ])('is a lost race if the task is %s', (_what, lead, state) => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    lead(team, taskId);
    const before = team.view(taskId);
    const refusal = team.refuse('ann', 'task.claim', { taskId });
    expect(refusal).toBeInstanceOf(ClaimConflictError);
    expect(refusal).toMatchObject({
      name: 'ClaimConflictError',
      code: 'claim_conflict',
      message: `Cannot claim task ${taskId} (${state}): take another one`,
    });
    expect(team.view(taskId)).toEqual(before);
  });

  test("is refused to the task's holder, and says so", () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    expect(team.refuse('ann', 'task.claim', { taskId })).toMatchObject({
      code: 'claim_conflict',
      message: `ann already holds task ${taskId}: continue it`,
    });
  });

  test('is a lost race if the task is reserved for another', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task({ assigneeId: 'bob' });
    const refusal = team.refuse('ann', 'task.claim', { taskId });
    expect(refusal).toBeInstanceOf(ClaimConflictError);
    expect(refusal.message).toBe(`Task ${taskId} is reserved for bob: take another one`);
    expect(team.refuse('lead', 'task.claim', { taskId }).code).toBe('claim_conflict');
  });

  test('is refused while the task is blocked, and says by what', () => {
    const team = teamOf('ann', 'bob');
    const first = team.task();
    const second = team.task();
    const taskId = team.task({ dependencies: [first, second] });
    team.as('bob', 'task.claim', { taskId: first });
    expect(team.refuse('ann', 'task.claim', { taskId })).toMatchObject({
      code: 'blocked',
      message: `Task ${taskId} waits for task ${first} (in progress, held by bob), task ${second} (pending)`,
    });
    team.as('bob', 'task.complete', { taskId: first });
    expect(team.refuse('ann', 'task.claim', { taskId }).message).toBe(
      `Task ${taskId} waits for task ${second} (pending)`,
    );
    team.do('task.complete', { taskId: second });
    expect(types(team.as('ann', 'task.claim', { taskId }))).toEqual(['task:claimed']);
  });

  test('is refused for an unknown task, and to non-members', () => {
    const team = teamOf('ann');
    expect(team.refuse('ann', 'task.claim', { taskId: '9' })).toMatchObject({
      code: 'not_found',
      message: 'Task "9" of team alpha does not exist',
    });
    team.task();
    for (const by of ['@user', '@system']) {
      expect(team.refuse(by, 'task.claim', {})).toMatchObject({
        code: 'invalid',
        message: `Only a member of team alpha (lead, ann) can do that, and you are calling as ${by}`,
        facts: { needs: 'speaker' },
      });
    }
    expect(team.refuse('eve', 'task.claim', {})).toMatchObject({
      code: 'not_found',
      message: 'Team alpha has no member "eve"; it has lead, ann',
    });
  });

  test('raises the epoch at each change of the holder', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    const epochs = [];
    for (const by of ['ann', 'bob', 'ann']) {
      team.as(by, 'task.claim', { taskId });
      epochs.push(team.view(taskId).epoch);
      team.as(by, 'task.release', { taskId });
    }
    expect(epochs).toEqual([1, 3, 5]);
  });
});

describe('the next task', () => {
  test('is none if nothing is ready', () => {
    const team = teamOf('ann', 'bob');
    expect(team.as('ann', 'task.claim', {})).toEqual([]);
    team.task({ assigneeId: 'bob' });
    team.task({ dependencies: ['1'] });
    expect(team.claimNext('ann')).toBeUndefined();
  });

  test('is one reserved for the caller, then a free one; by priority, then age', () => {
    const team = teamOf('ann', 'bob');
    const low = team.task({ priority: 'low' });
    const medium = team.task();
    const critical = team.task({ priority: 'critical' });
    const high = team.task({ priority: 'high' });
    const critical2 = team.task({ priority: 'critical' });
    const mineLow = team.task({ priority: 'low', assigneeId: 'ann' });
    const mineHigh = team.task({ priority: 'high', assigneeId: 'ann' });
    const mineHigh2 = team.task({ priority: 'high', assigneeId: 'ann' });
    const theirs = team.task({ priority: 'critical', assigneeId: 'bob' });
    expect(drain(team, 'ann')).toEqual([mineHigh, mineHigh2, mineLow, critical, critical2, high, medium, low]);
    expect(drain(team, 'bob')).toEqual([theirs]);
  });

  test('is the oldest, not the one that became ready first', () => {
    const team = teamOf('ann');
    const gate = team.task({ priority: 'critical' });
    const oldest = team.task({ dependencies: [gate] });
    const younger = team.task();
    const youngest = team.task();
    expect(team.claimNext('ann')).toBe(gate);
    expect(team.claimNext('ann')).toBe(younger);
    team.as('ann', 'task.complete', { taskId: gate });
    expect(drain(team, 'ann')).toEqual([oldest, youngest]);
  });

  test('has a released task at its old place', () => {
    const team = teamOf('ann', 'bob');
    const [first, second] = [team.task(), team.task()] as const;
    team.as('ann', 'task.claim', { taskId: first });
    team.as('ann', 'task.release', { taskId: first });
    expect(drain(team, 'bob')).toEqual([first, second]);
  });

  test('follows a change of priority up, down and back', () => {
    const team = teamOf('ann');
    const [first, second, third] = [team.task(), team.task(), team.task()] as const;
    team.do('task.update', { taskId: third, priority: 'critical' });
    team.do('task.update', { taskId: first, priority: 'low' });
    team.do('task.update', { taskId: second, priority: 'low' });
    team.do('task.update', { taskId: second, priority: 'medium' });
    expect(drain(team, 'ann')).toEqual([third, second, first]);
  });

  test('follows an assignment to another, to the caller and to nobody', () => {
    const team = teamOf('ann', 'bob');
    const [first, second, third] = [team.task(), team.task(), team.task()] as const;
    team.do('task.assign', { taskId: first, assigneeId: 'bob' });
    team.do('task.assign', { taskId: third, assigneeId: 'ann' });
    team.do('task.assign', { taskId: second, assigneeId: 'bob' });
    team.do('task.assign', { taskId: second, assigneeId: null });
    expect(drain(team, 'ann')).toEqual([third, second]);
    expect(drain(team, 'bob')).toEqual([first]);
  });

  test('is not lost if a claim saw it while it could not be taken', () => {
    const team = teamOf('ann', 'bob');
    const gate = team.task();
    const taskId = team.task({ priority: 'critical' });
    team.as('bob', 'task.claim', { taskId: gate });
    team.do('task.addDependencies', { taskId, dependencies: [gate] });
    expect(team.claimNext('ann')).toBeUndefined();
    team.do('task.removeDependencies', { taskId, dependencies: [gate] });
    expect(team.claimNext('ann')).toBe(taskId);
    team.as('ann', 'task.release', { taskId });
    team.do('task.assign', { taskId, assigneeId: 'bob' });
    expect(team.claimNext('ann')).toBeUndefined();
    team.do('task.assign', { taskId, assigneeId: null });
    expect(team.claimNext('ann')).toBe(taskId);
    team.as('ann', 'task.complete', { taskId });
    expect(team.claimNext('ann')).toBeUndefined();
    team.do('task.reopen', { taskId });
    expect(team.claimNext('ann')).toBe(taskId);
  });

  test('can be taken by the lead', () => {
    const team = teamOf();
    const taskId = team.task();
    expect(team.claimNext('lead')).toBe(taskId);
  });
});

function drain(team: Stage, by: string): string[] {
  const taken: string[] = [];
  for (let id = team.claimNext(by); id !== undefined; id = team.claimNext(by)) taken.push(id);
  return taken;
}

describe('F3: when the lead has left', () => {
  test('the others finish their tasks, and take nothing new after a minute', () => {
    const team = teamOf('ann', 'bob');
    const [first, second] = [team.task(), team.task()];
    team.as('ann', 'task.claim', { taskId: first });
    const claimAt = (taskId: string, ms: number) => {
      const at = (team.state.members.get('lead')?.statusSince.getTime() ?? 0) + ms;
      return () => decide(team.state, commandOf('task.claim', { taskId }, { by: 'bob', at }));
    };
    expect(claimAt(second, 120_000)).not.toThrow();
    team.as('@system', 'member.leave', { memberId: 'lead', returning: true });
    expect(claimAt(second, 120_000)).not.toThrow();
    team.as('@system', 'member.leave', { memberId: 'lead' });
    expect(claimAt(second, 59_999)).not.toThrow();
    expect(claimAt(second, 60_000)).toThrow(
      'lead, the lead of team alpha, has stopped: nobody can claim tasks until the team has another lead',
    );
    expect(types(team.as('ann', 'task.complete', { taskId: first }))).toContain('task:completed');
    team.as('@user', 'team.update', { leadId: 'ann' });
    expect(claimAt(second, 600_000)).not.toThrow();
  });

  test('the work goes on after its return', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.as('@system', 'member.leave', { memberId: 'lead' });
    team.as('@user', 'member.join', { name: 'lead' });
    expect(() => decide(team.state, commandOf('task.claim', { taskId }, { by: 'ann', at: 4e12 }))).not.toThrow();
  });
});
