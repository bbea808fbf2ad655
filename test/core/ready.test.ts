import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isKept } from '../../src/core/blocked.ts';
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
      !isKept(task) &&
      !task.dependencies.some((id) => isOpen(task, state.tasks.get(id))) &&
      !heldByOthers(state, task, memberId),
  );
  ready.sort((a, b) => RANK[a.priority] - RANK[b.priority] || Number(a.id) - Number(b.id));
  const own = ready.filter((task) => task.assigneeId === memberId);
  const free = ready.filter((task) => task.assigneeId === undefined);
  return [...own, ...free].map((task) => task.id);
}
