import { describe, expect, test } from 'vitest';
import { TASKS_PER_TEAM } from '../../../src/core/limits.ts';
import { teamOf, types } from '../stage.ts';

describe('a reopened task', () => {
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
