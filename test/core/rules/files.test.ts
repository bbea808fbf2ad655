import { describe, expect, test } from 'vitest';
import { obstacles } from '../../../src/core/obstacles.ts';
import { openSnapshot, takeSnapshot } from '../../../src/core/snapshot.ts';
import type { TeamState } from '../../../src/core/state.ts';
import { requireTask, viewTask } from '../../../src/core/view.ts';
import { teamOf, types } from '../stage.ts';
import type { Stage } from '../stage.ts';

/** Ann works on task 1, in src/parser; task 2 changes a file there. */
function stage(): Stage {
  const team = teamOf('ann', 'bob', 'cyd');
  team.task({ files: ['src/parser/**'] });
  team.task({ files: ['src/parser/lexer.ts'] });
  team.as('ann', 'task.claim', { taskId: '1' });
  return team;
}

const found = (state: TeamState, memberId: string, taskId = '2') =>
  obstacles(state, { memberId, at: 0 }, requireTask(state, taskId));

describe('a task that changes the same files as one in progress', () => {
  test('waits, and says for what', () => {
    const team = stage();
    expect(found(team.state, 'bob')).toEqual([{ kind: 'files', taskId: '1' }]);
    expect(team.view('2')).toMatchObject({
      status: 'blocked',
      blockedBy: [],
      filesHeldBy: ['1'],
      blockedReason: 'changes the same files as task 1 (in progress, held by ann)',
    });
    expect(team.refuse('bob', 'task.claim', { taskId: '2' })).toMatchObject({
      code: 'blocked',
      message: 'Task 2 changes the same files as task 1 (in progress, held by ann)',
    });
    expect(team.as('bob', 'task.claim', {})).toEqual([]);
  });

  test('is free for the member that holds these files', () => {
    const team = stage();
    expect(team.as('bob', 'task.claim', {})).toEqual([]);
    expect(found(team.state, 'ann')).toEqual([]);
    expect(team.as('ann', 'task.claim', {})).toMatchObject([{ type: 'task:claimed', taskId: '2' }]);
  });

  test('is not blocked if it is reserved for that member', () => {
    const team = stage();
    expect(types(team.do('task.assign', { taskId: '2', assigneeId: 'ann' }))).toEqual([
      'task:assigned',
      'task:unblocked',
    ]);
    expect(team.view('2')).toMatchObject({ status: 'pending' });
    team.do('task.assign', { taskId: '2', assigneeId: 'bob' });
    expect(team.view('2')).toMatchObject({ status: 'blocked' });
  });

  test.each<[string, (team: Stage) => unknown]>([
    ['completed', (team) => team.as('ann', 'task.complete', { taskId: '1' })],
    ['failed', (team) => team.as('ann', 'task.fail', { taskId: '1', reason: 'no' })],
    ['released', (team) => team.as('ann', 'task.release', { taskId: '1' })],
    ['deleted', (team) => team.do('task.delete', { taskId: '1' })],
    ['given to another member', (team) => team.do('task.assign', { taskId: '1', assigneeId: 'cyd' })],
    ['about other files', (team) => team.do('task.update', { taskId: '1', files: ['docs/**'] })],
    ['about no files', (team) => team.do('task.update', { taskId: '1', files: [] })],
    ['left by its member', (team) => team.do('member.leave', { memberId: 'ann' })],
  ])('is ready at once when the other one is %s', (_how, end) => {
    const team = stage();
    // A look for work that finds nothing must not lose it.
    expect(team.as('bob', 'task.claim', {})).toEqual([]);
    const events = end(team) as { type: string; taskId: string }[];
    expect(events).toContainEqual(expect.objectContaining({ type: 'task:unblocked', taskId: '2' }));
    expect(team.as('bob', 'task.claim', { taskId: '2' })).toMatchObject([{ type: 'task:claimed', taskId: '2' }]);
  });

  test('is offered to a member that looks for any task, best first', () => {
    const team = stage();
    const urgent = team.task({ files: ['src/**'], priority: 'critical' });
    expect(team.as('bob', 'task.claim', {})).toEqual([]);
    team.as('ann', 'task.complete', { taskId: '1' });
    expect(team.as('bob', 'task.claim', {})).toMatchObject([{ taskId: urgent }]);
    expect(team.as('cyd', 'task.claim', {})).toEqual([]);
  });

  test('still waits for its dependencies, and is announced once when both end together', () => {
    const team = stage();
    const both = team.task({ files: ['src/parser/a.ts'], dependencies: ['1'] });
    expect(team.view(both)).toMatchObject({ blockedBy: ['1'], filesHeldBy: ['1'] });
    const events = team.as('ann', 'task.complete', { taskId: '1' });
    expect(events.slice(1).map((event) => 'taskId' in event && event.taskId)).toEqual([both, '2']);
  });

  test('waits also after a restart', () => {
    const team = stage();
    const state = openSnapshot('alpha', takeSnapshot(team.state)) as TeamState;
    expect(found(state, 'bob')).toEqual([{ kind: 'files', taskId: '1' }]);
    expect(viewTask(state, requireTask(state, '2')).status).toBe('blocked');
  });

  test('is announced with at most 31 others', () => {
    const team = teamOf('ann');
    for (let i = 0; i < 50; i++) team.task({ files: ['a'] });
    team.as('ann', 'task.claim', { taskId: '1' });
    const events = types(team.as('ann', 'task.complete', { taskId: '1' }));
    expect(events.filter((type) => type === 'task:unblocked')).toHaveLength(32);
  });
});

test('tasks about other files, or none, wait for nobody', () => {
  const team = stage();
  const ids = [team.task(), team.task({ files: ['docs/**'] }), team.task({ files: [] })];
  for (const id of ids) expect(team.view(id)).toMatchObject({ status: 'pending' });
  expect(team.view(ids[2] as string).files).toBeUndefined();
  team.do('task.update', { taskId: '2', files: ['docs/a.md'] });
  expect(team.view('2')).toMatchObject({ status: 'pending', files: ['docs/a.md'] });
});

describe('a member that leaves', () => {
  test('frees the files of each of its tasks, but not those that somebody else holds, too', () => {
    const team = teamOf('ann', 'bob', 'cyd');
    const files = [['a/**'], ['b/**'], ['c/**'], ['a/x'], ['b/x'], ['b/y', 'c/y']];
    for (const each of files) team.task({ files: each });
    for (const [by, taskId] of [
      ['ann', '1'],
      ['ann', '2'],
      ['bob', '3'],
    ] as const) {
      team.as(by, 'task.claim', { taskId });
    }
    const events = team.do('member.leave', { memberId: 'ann' });
    const freed = events.flatMap((event) => (event.type === 'task:unblocked' ? [event.taskId] : []));
    expect(freed).toEqual(['4', '5']);
    expect(team.view('6')).toMatchObject({ status: 'blocked', filesHeldBy: ['3'] });
  });
});

test('a task is announced when it no longer names the files of another one', () => {
  const team = stage();
  expect(types(team.do('task.update', { taskId: '2', files: ['src/parser/other.ts'] }))).toEqual(['task:updated']);
  expect(types(team.do('task.update', { taskId: '2', title: 'Another title' }))).toEqual(['task:updated']);
  expect(types(team.do('task.update', { taskId: '2', files: ['docs/**'] }))).toEqual([
    'task:updated',
    'task:unblocked',
  ]);
});
