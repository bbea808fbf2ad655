import { describe, expect, test } from 'vitest';
import { teamOf, types } from '../stage.ts';

describe('a task that fails with its dependencies', () => {
  test('fails at once when one of them has failed before it was created', () => {
    const team = teamOf('ann');
    const broken = team.task();
    team.do('task.fail', { taskId: broken, reason: 'no' });
    const taskId = team.task({ dependencies: [broken], onDependencyFailure: 'fail' });
    expect(team.view(taskId)).toMatchObject({
      status: 'failed',
      failure: `task ${broken}, for which it waited, failed`,
    });
  });

  test('fails at once, and those behind it, when a failed dependency is added', () => {
    const team = teamOf('ann');
    const broken = team.task();
    team.do('task.fail', { taskId: broken, reason: 'no' });
    const taskId = team.task({ onDependencyFailure: 'fail' });
    const behind = team.task({ dependencies: [taskId], onDependencyFailure: 'fail' });
    const aside = team.task({ dependencies: [taskId], onDependencyFailure: 'proceed' });
    const events = team.do('task.addDependencies', { taskId, dependencies: [broken] });
    expect(types(events)).toEqual(['task:dependencies-added', 'task:failed', 'task:failed', 'task:unblocked']);
    expect([taskId, behind, aside].map((id) => team.view(id).status)).toEqual(['failed', 'failed', 'pending']);
  });

  test('fails at once when that becomes its policy and one of them has failed', () => {
    const team = teamOf('ann');
    const broken = team.task();
    const taskId = team.task({ dependencies: [broken] });
    team.do('task.fail', { taskId: broken, reason: 'no' });
    expect(team.view(taskId).status).toBe('blocked');
    expect(types(team.do('task.update', { taskId, onDependencyFailure: 'fail' }))).toEqual([
      'task:updated',
      'task:failed',
    ]);
    expect(team.view(taskId).status).toBe('failed');
  });

  test('goes on when it is under way', () => {
    const team = teamOf('ann');
    const broken = team.task();
    const taskId = team.task({ dependencies: [broken], onDependencyFailure: 'proceed' });
    team.do('task.fail', { taskId: broken, reason: 'no' });
    expect(team.claimNext('ann')).toBe(taskId);
    expect(types(team.do('task.update', { taskId, onDependencyFailure: 'fail' }))).toEqual(['task:updated']);
  });

  test('waits, reopened, until what it waits for is reopened too', () => {
    const team = teamOf('ann');
    const broken = team.task();
    const taskId = team.task({ dependencies: [broken], onDependencyFailure: 'fail' });
    team.do('task.fail', { taskId: broken, reason: 'no' });
    expect(team.view(taskId).status).toBe('failed');
    team.do('task.reopen', { taskId });
    expect(team.view(taskId)).toMatchObject({ status: 'blocked', blockedBy: [broken] });
    team.do('task.reopen', { taskId: broken });
    team.do('task.complete', { taskId: broken });
    expect(team.claimNext('ann')).toBe(taskId);
  });
});
