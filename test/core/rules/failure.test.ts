import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tries } from '../../proof.ts';
import { teamOf, types } from '../stage.ts';

type Policy = 'block' | 'proceed' | 'fail';

describe('a failed dependency', () => {
  test('leaves its dependents blocked, with the reason', () => {
    const team = teamOf('ann');
    const broken = team.task();
    const taskId = team.task({ dependencies: [broken] });
    expect(types(team.do('task.fail', { taskId: broken, reason: 'no disk' }))).toEqual(['task:failed']);
    expect(team.view(taskId)).toMatchObject({
      status: 'blocked',
      blockedBy: [broken],
      blockedReason: `waits for task ${broken} (failed: "no disk")`,
    });
    expect(team.refuse('ann', 'task.claim', { taskId })).toMatchObject({
      code: 'blocked',
      message: `Task ${taskId} waits for task ${broken} (failed: "no disk")`,
    });
    team.do('task.reopen', { taskId: broken });
    team.do('task.complete', { taskId: broken });
    expect(team.claimNext('ann')).toBe(taskId);
  });

  test('unblocks dependents with the policy `proceed`, if no other dependency is open', () => {
    const team = teamOf('ann');
    const [broken, open] = [team.task(), team.task()] as const;
    const taskId = team.task({ dependencies: [broken], onDependencyFailure: 'proceed' });
    const later = team.task({ dependencies: [broken, open], onDependencyFailure: 'proceed' });
    expect(team.do('task.fail', { taskId: broken, reason: 'no' }).slice(1)).toMatchObject([
      { type: 'task:unblocked', taskId },
    ]);
    expect(team.view(later)).toMatchObject({ status: 'blocked', blockedBy: [open] });
    expect(types(team.do('task.complete', { taskId: open }))).toEqual(['task:completed', 'task:unblocked']);
    team.do('task.reopen', { taskId: broken });
    expect(team.tasks('blocked')).toEqual([taskId, later]);
  });

  test('fails dependents with the policy `fail`, and their dependents', () => {
    const team = teamOf('ann');
    const broken = team.task();
    const second = team.task({ dependencies: [broken], onDependencyFailure: 'fail' });
    const third = team.task({ dependencies: [second], onDependencyFailure: 'fail' });
    const blocked = team.task({ dependencies: [third] });
    team.as('ann', 'task.claim', { taskId: broken });
    expect(team.as('ann', 'task.fail', { taskId: broken, reason: 'no' })).toMatchObject([
      { type: 'task:failed', taskId: broken, memberId: 'ann', reason: 'no' },
      { type: 'task:failed', taskId: second, reason: `its dependency, task ${broken}, failed` },
      { type: 'task:failed', taskId: third, reason: `its dependency, task ${second}, failed` },
    ]);
    expect(team.view(second)).toMatchObject({ status: 'failed', completedAt: expect.any(Date) as Date });
    expect(team.view(blocked).status).toBe('blocked');
    team.do('task.reopen', { taskId: broken });
    expect(team.tasks('failed')).toEqual([second, third]);
  });

  test('fails each task of a diamond once', () => {
    const team = teamOf();
    const top = team.task();
    const sides = [1, 2].map(() => team.task({ dependencies: [top], onDependencyFailure: 'fail' }));
    const bottom = team.task({ dependencies: sides, onDependencyFailure: 'fail' });
    const after = team.task({ dependencies: [...sides, bottom], onDependencyFailure: 'proceed' });
    const events = team.do('task.fail', { taskId: top, reason: 'no' });
    expect(types(events)).toEqual([...Array.from({ length: 4 }, () => 'task:failed'), 'task:unblocked']);
    expect(team.tasks('failed')).toEqual([top, ...sides, bottom]);
    expect(team.tasks('pending')).toEqual([after]);
  });

  test('runs through a chain of any length', () => {
    const team = teamOf();
    team.task();
    for (let i = 2; i <= 5000; i++) team.task({ dependencies: [String(i - 1)], onDependencyFailure: 'fail' });
    expect(team.do('task.fail', { taskId: '1', reason: 'no' })).toHaveLength(5000);
    expect(team.state.index.counts).toMatchObject({ failed: 5000, pending: 0 });
  });

  test('changes no task that has started or ended', () => {
    const team = teamOf('ann');
    const broken = team.task();
    const [begun, over, gone] = [1, 2, 3].map(() =>
      team.task({ dependencies: [broken], onDependencyFailure: 'fail' }),
    ) as [string, string, string];
    team.do('task.complete', { taskId: broken });
    team.as('ann', 'task.claim', { taskId: begun });
    team.do('task.complete', { taskId: over });
    team.do('task.delete', { taskId: gone });
    team.do('task.reopen', { taskId: broken });
    expect(types(team.do('task.fail', { taskId: broken, reason: 'no' }))).toEqual(['task:failed']);
    expect([begun, over, gone].map((id) => team.view(id).status)).toEqual(['in_progress', 'completed', 'deleted']);
  });

  test('has, for any graph of policies, the same effect as a naive repeated search', () => {
    const node = fc.record({
      policy: fc.constantFrom<Policy>('block', 'proceed', 'fail'),
      dependencies: fc.uniqueArray(fc.nat(20), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(
        fc.array(node, { minLength: 1, maxLength: 16 }),
        fc.array(fc.nat(20), { maxLength: 4 }),
        (nodes, ends) => {
          const team = teamOf();
          // A task depends on earlier ones only, so the graph has no cycle.
          const tasks = nodes.map(({ policy, dependencies }, i) => {
            const ids = i === 0 ? [] : [...new Set(dependencies.map((n) => String((n % i) + 1)))];
            return { id: team.task({ dependencies: ids, onDependencyFailure: policy }), policy, ids };
          });
          const status = new Map(tasks.map(({ id }) => [id, 'pending']));
          for (const n of ends) {
            const id = String((n % tasks.length) + 1);
            const completes = n % 2 === 0;
            if (status.get(id) !== 'pending') continue;
            const ready = readyOf(tasks, status);
            const events = completes
              ? team.do('task.complete', { taskId: id })
              : team.do('task.fail', { taskId: id, reason: 'no' });
            status.set(id, completes ? 'completed' : 'failed');
            for (let moved = true; moved;) {
              const failing = tasks.find(
                ({ id, policy, ids }) =>
                  policy === 'fail' && status.get(id) === 'pending' && ids.some((d) => status.get(d) === 'failed'),
              );
              moved = failing !== undefined;
              if (failing) status.set(failing.id, 'failed');
            }
            expect(new Map([...team.state.tasks.values()].map((task) => [task.id, task.status]))).toEqual(status);
            const unblocked = events.flatMap((event) => (event.type === 'task:unblocked' ? event.taskId : []));
            expect(unblocked.sort()).toEqual(
              readyOf(tasks, status)
                .filter((other) => !ready.includes(other))
                .sort(),
            );
            expect(team.tasks('pending')).toEqual(readyOf(tasks, status));
          }
        },
      ),
      tries(167),
    );
  });
});

describe('a task that fails with its dependencies', () => {
  test('fails at once if one of them failed before it was created', () => {
    const team = teamOf('ann');
    const broken = team.task();
    team.do('task.fail', { taskId: broken, reason: 'no' });
    const taskId = team.task({ dependencies: [broken], onDependencyFailure: 'fail' });
    expect(team.view(taskId)).toMatchObject({
      status: 'failed',
      failure: `its dependency, task ${broken}, failed`,
    });
  });

  test('fails at once, with its dependents, if a failed dependency is added', () => {
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

  test('fails at once if that becomes its policy and one of them has failed', () => {
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

  test('goes on if it has started', () => {
    const team = teamOf('ann');
    const broken = team.task();
    const taskId = team.task({ dependencies: [broken], onDependencyFailure: 'proceed' });
    team.do('task.fail', { taskId: broken, reason: 'no' });
    expect(team.claimNext('ann')).toBe(taskId);
    expect(types(team.do('task.update', { taskId, onDependencyFailure: 'fail' }))).toEqual(['task:updated']);
  });

  test('stays blocked after it is reopened, until its dependency is reopened and completed', () => {
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

interface Node {
  readonly id: string;
  readonly policy: Policy;
  readonly ids: readonly string[];
}

/** Pending tasks without a blocking dependency. */
function readyOf(tasks: readonly Node[], status: ReadonlyMap<string, string>): string[] {
  const settled = (policy: Policy) => (policy === 'proceed' ? ['completed', 'failed'] : ['completed']);
  return tasks
    .filter(({ id }) => status.get(id) === 'pending')
    .filter(({ ids, policy }) => ids.every((id) => settled(policy).includes(status.get(id) as string)))
    .map(({ id }) => id);
}
