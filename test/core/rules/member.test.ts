import { describe, expect, test } from 'vitest';
import { requireMember, viewMember } from '../../../src/core/view.ts';
import { Stage, teamOf } from '../stage.ts';

describe('a member that comes back', () => {
  test('takes its old place in a full team', () => {
    const team = small('ann', 'bob');
    team.do('member.leave', { memberId: 'ann', returning: true });
    expect(team.refuse('lead', 'member.join', { name: 'cyd' })).toMatchObject({ code: 'limit' });
    team.do('member.join', { name: 'ann' });
    expect(member(team, 'ann')).toMatchObject({ status: 'active' });
    expect(member(team, 'ann').returning).toBeUndefined();
  });

  test('can be given up: what was reserved for it is free again, and it counts no more', () => {
    const team = small('ann', 'bob');
    const taskId = team.task({ assigneeId: 'ann' });
    team.do('member.leave', { memberId: 'ann', returning: true });
    expect(team.claimNext('bob')).toBeUndefined();
    const refusal = team.refuse('lead', 'team.close', {});
    expect(refusal).toMatchObject({ code: 'conflict', message: expect.stringContaining('ann, bob') as string });
    team.do('member.leave', { memberId: 'ann', reason: 'does not start' });
    expect(member(team, 'ann')).toMatchObject({ status: 'stopped', stopReason: 'does not start', assignedTasks: [] });
    expect(member(team, 'ann').returning).toBeUndefined();
    expect(team.claimNext('bob')).toBe(taskId);
    team.join('cyd');
  });

  test('is not awaited by a team that is closed', () => {
    const team = small('ann');
    const taskId = team.task({ assigneeId: 'ann' });
    team.do('member.leave', { memberId: 'ann', returning: true });
    team.do('team.close', { force: true });
    expect(member(team, 'ann').returning).toBeUndefined();
    expect(team.view(taskId).assigneeId).toBeUndefined();
  });
});

describe('a member that agreed to shut down', () => {
  test('does not go back to work on its own', () => {
    const team = teamOf('ann');
    team.task();
    const [requested] = team.do('shutdown.request', { memberId: 'ann' });
    team.as('ann', 'shutdown.approve', { requestId: (requested as { requestId: string }).requestId });
    for (const status of ['active', 'idle', 'spawning'] as const) {
      expect(team.refuse('ann', 'member.change', { memberId: 'ann', status })).toMatchObject({
        code: 'not_allowed',
        message: 'ann may not take back that it shuts down: ask lead or a person',
      });
    }
    expect(team.as('ann', 'member.change', { memberId: 'ann', status: 'shutting-down' })).toEqual([]);
    expect(team.refuse('ann', 'task.claim', {})).toMatchObject({ code: 'conflict' });
    expect(member(team, 'ann').status).toBe('shutting-down');
  });

  test('works on when one who decides for it says so', () => {
    const team = teamOf('ann');
    team.do('member.change', { memberId: 'ann', status: 'shutting-down' });
    team.do('member.change', { memberId: 'ann', status: 'active' });
    const taskId = team.task();
    expect(team.claimNext('ann')).toBe(taskId);
  });
});

/** A team of two teammates at most. */
function small(...names: string[]): Stage {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', maxTeammates: 2 });
  return team.join(...names);
}

function member(team: Stage, id: string) {
  return viewMember(team.state, requireMember(team.state, id));
}
