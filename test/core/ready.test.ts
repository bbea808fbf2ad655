import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasOwnBlocker } from '../../src/core/blocked.ts';
import { evolve } from '../../src/core/evolve.ts';
import { filesMeet } from '../../src/core/file-patterns.ts';
import { isOpen, obstacles } from '../../src/core/obstacles.ts';
import { allReady, bestReady } from '../../src/core/ready.ts';
import { createState } from '../../src/core/state.ts';
import type { TaskRecord, TeamState } from '../../src/core/state.ts';
import { tries } from '../proof.ts';
import { copyOf, workFor } from './picture.ts';
import { OPENING, play, steps } from './random-team.ts';
import { teamOf } from './stage.ts';

const RANK = { critical: 0, high: 1, medium: 2, low: 3 };

describe('the next task', () => {
  test('is the same as by a search through all tasks, after any story', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        const state = createState('alpha');
        play(state, OPENING);
        play(state, story, 100);
        for (const id of state.members.keys()) expect(workFor(state, id)).toEqual(naiveWorkFor(state, id));
      }),
      tries(50),
    );
  });

  test('is the best one without an obstacle, after any story; there is none if the member has an obstacle of its own', () => {
    fc.assert(
      fc.property(steps(100), fc.integer({ min: 2, max: 5 }), (story, every) => {
        const state = createState('alpha');
        play(state, OPENING);
        play(state, story, 100);
        for (const { id, status } of state.tasks.values()) {
          if (status !== 'pending' || Number(id) % every !== 0) continue;
          evolve(state, { type: 'task:updated', at: 100, by: '@system', taskId: id, withheld: 'x' });
        }
        for (const memberId of state.members.keys()) {
          for (const at of [100, 1e9]) {
            const ready = allReady(state, { memberId, at });
            const own = obstacles(state, { memberId, at });
            expect(ready.at(0)?.id).toBe(own.length === 0 ? bestReady(copyOf(state), memberId)?.id : undefined);
          }
        }
      }),
      tries(50),
    );
  });

  test('is found in a heap that stays small, however often priorities change', () => {
    const team = teamOf('ann');
    for (let i = 0; i < 100; i++) team.task();
    for (const priority of ['low', 'high', 'critical', 'medium', 'high', 'low'] as const) {
      for (const taskId of team.state.tasks.keys()) team.do('task.update', { taskId, priority });
      expect(team.state.index.free.length).toBeLessThan(2 * 100 + 66);
    }
    expect(workFor(team.state, 'ann')).toEqual([...team.state.tasks.keys()]);
  });

  test('is found in a heap that stays small, however often assignments change', () => {
    const team = teamOf('ann', 'bob');
    for (let i = 0; i < 20; i++) team.task();
    for (let round = 0; round < 20; round++) {
      for (const taskId of team.state.tasks.keys()) {
        team.do('task.assign', { taskId, assigneeId: ['ann', 'bob', null][round % 3] as string | null });
      }
    }
    const { free, reserved } = team.state.index;
    for (const heap of [free, ...reserved.values()]) expect(heap.length).toBeLessThan(2 * 20 + 66);
    expect(workFor(team.state, 'bob')).toEqual([...team.state.tasks.keys()]);
  });
});

/** Whether another member works on a task that changes the same files. */
function heldByOthers({ tasks }: TeamState, { files = [] }: TaskRecord, memberId: string): boolean {
  const held = [...tasks.values()].filter(
    ({ status, assigneeId }) => status === 'in_progress' && assigneeId !== memberId,
  );
  return held.some((other) => filesMeet(files, other.files ?? []));
}

/** Reserved tasks first, then free ones; by priority, then age. */
function naiveWorkFor(state: TeamState, memberId: string): string[] {
  const ready = [...state.tasks.values()].filter(
    (task) =>
      task.status === 'pending' &&
      !hasOwnBlocker(task) &&
      !task.dependencies.some((id) => isOpen(task, state.tasks.get(id))) &&
      !heldByOthers(state, task, memberId),
  );
  ready.sort((a, b) => RANK[a.priority] - RANK[b.priority] || Number(a.id) - Number(b.id));
  const own = ready.filter((task) => task.assigneeId === memberId);
  const free = ready.filter((task) => task.assigneeId === undefined);
  return [...own, ...free].map((task) => task.id);
}

describe('a member that holds files', () => {
  /** ann changes a and b; tasks 3 to 6 wait for these files. */
  function filed() {
    const team = teamOf('ann', 'bob');
    team.task({ files: ['a/**'] });
    team.task({ files: ['b/**'] });
    for (const taskId of ['1', '2']) team.as('ann', 'task.claim', { taskId });
    team.task({ files: ['a/x'] });
    team.task({ files: ['a/y'], priority: 'high' });
    team.task({ files: ['b/z'], priority: 'low' });
    // A look by somebody who cannot take them sets them aside.
    expect(bestReady(team.state, 'bob')).toBeUndefined();
    return team;
  }

  test('can take the tasks that wait for them, by priority, then age; a better free one comes first', () => {
    const team = filed();
    expect(workFor(team.state, 'ann')).toEqual(['4', '3', '5']);
    const free = team.task({ priority: 'high' });
    expect(bestReady(team.state, 'ann')?.id).toBe('4');
    expect(bestReady(team.state, 'bob')?.id).toBe(free);
    const urgent = team.task({ priority: 'critical' });
    expect(bestReady(team.state, 'ann')?.id).toBe(urgent);
  });

  test('cannot take what changed since, or waits for files of others, too', () => {
    const team = filed();
    team.do('task.delete', { taskId: '4' });
    team.do('task.assign', { taskId: '5', assigneeId: 'bob' });
    expect(workFor(team.state, 'ann')).toEqual(['3']);
    team.task({ files: ['c'] });
    team.as('bob', 'task.claim', { taskId: '6' });
    team.do('task.update', { taskId: '3', files: ['a/x', 'c'] });
    expect(workFor(team.state, 'ann')).toEqual([]);
  });

  test('offers them to all when it is done, except those that are gone', () => {
    const team = filed();
    team.state.tasks.delete('3');
    team.as('ann', 'task.complete', { taskId: '1' });
    expect(bestReady(team.state, 'bob')?.id).toBe('4');
  });
});
