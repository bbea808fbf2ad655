import { describe, expect, test } from 'vitest';
import { overlapRows, overlapsOf } from '../../../src/core/overlap-view.ts';
import type { WorkOverlap } from '../../../src/core/overlap.ts';
import { openSnapshot, takeSnapshot } from '../../../src/core/snapshot.ts';
import type { TeamState } from '../../../src/core/state.ts';
import { commit, WORK } from '../../samples/work.ts';
import { Stage, teamOf, types } from '../stage.ts';

const SIDES: WorkOverlap['sides'] = [
  { memberId: 'ann', taskId: '1', epoch: 1 },
  { memberId: 'bob', taskId: '2', epoch: 1 },
];

function stage(): Stage {
  const team = teamOf('ann', 'bob', 'cyd');
  for (const by of ['ann', 'bob', 'cyd']) {
    const taskId = team.task({ title: `Task of ${by}` });
    team.as(by, 'task.claim', { taskId });
  }
  return team;
}

const meet = (team: Stage, paths: string[], conflicts: string[] = [], sides = SIDES): string[] =>
  types(team.as('@system', 'work.overlap', { sides, files: paths.length, paths, conflicts }));

const TOLD = ['work:overlapped', 'message:sent'];

describe('two members that change the same files', () => {
  test('hear of it together with the lead, in plain words', () => {
    const team = stage();
    expect(meet(team, ['src/a.ts', 'src/b.ts'], ['src/b.ts'])).toEqual(TOLD);
    const [first] = [...team.state.messages.values()];
    expect([...team.state.messages.values()].map(({ toId }) => toId)).toEqual(['ann', 'bob', 'lead']);
    expect(first).toMatchObject({ fromId: '@system', type: 'system', priority: 'normal' });
    expect(first?.metadata).toEqual({ taskIds: ['1', '2'] });
    expect(first?.content).toBe(
      'ann (task #1, "Task of ann") and bob (task #2, "Task of bob") have both changed src/a.ts, src/b.ts. ' +
        'These changes already conflict in src/b.ts. Write to each other about who changes what. Nothing is lost: ' +
        'whoever completes second gets both versions in its folder, with markers where they conflict.',
    );
  });

  test('hear of the same or fewer files once, of more files or another conflict again', () => {
    const team = stage();
    expect(meet(team, ['a', 'b'])).toEqual(TOLD);
    expect(meet(team, ['a', 'b'])).toEqual([]);
    expect(meet(team, ['b'])).toEqual(['work:overlapped']);
    expect(meet(team, ['a', 'b'])).toEqual(['work:overlapped']);
    expect(meet(team, ['a', 'b'], ['a'])).toEqual(TOLD);
    expect(meet(team, ['a', 'b'])).toEqual(['work:overlapped']);
    expect(meet(team, ['a', 'b'], ['a'])).toEqual(['work:overlapped']);
    expect(meet(team, [])).toEqual(['work:overlapped']);
    expect(overlapsOf(team.state)).toEqual([]);
    expect(meet(team, ['a', 'c'], ['a'])).toEqual(TOLD);
    const ids = [...team.state.messages.keys()];
    expect(new Set(ids).size).toBe(9);
  });

  test('are two: who changes a file in two tasks hears nothing', () => {
    const team = stage();
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    const own = [SIDES[0], { memberId: 'ann', taskId, epoch: 1 }] as WorkOverlap['sides'];
    expect(meet(team, ['a'], [], own)).toEqual([]);
  });

  test('do not hear of it again after a restart', () => {
    const team = stage();
    meet(team, ['a']);
    const state = openSnapshot('alpha', takeSnapshot(team.state)) as TeamState;
    expect(overlapsOf(state)).toEqual(overlapsOf(team.state));
    expect(state.overlaps).toEqual(team.state.overlaps);
  });

  test('hear of at most 50 files, however many come', () => {
    const team = stage();
    const names = Array.from({ length: 60 }, (_, i) => `f${String(i).padStart(2, '0')}`);
    expect(meet(team, names.slice(0, 50))).toEqual(TOLD);
    expect(meet(team, names.slice(10))).toEqual(['work:overlapped']);
    expect(meet(team, names.slice(10), [names[59] as string])).toEqual(TOLD);
    expect(team.state.overlaps.get('1-2')?.told.paths).toHaveLength(50);
  });

  test('are forgotten when one of the tasks ends, and then hear of it under the next one', () => {
    const team = stage();
    meet(team, ['a']);
    meet(team, ['a'], [], [SIDES[0], { memberId: 'cyd', taskId: '3', epoch: 1 }]);
    team.as('bob', 'task.release', { taskId: '2' });
    expect([...team.state.overlaps.keys()]).toEqual(['1-3']);
    team.as('bob', 'task.claim', { taskId: '2' });
    // A comparison of before the release.
    expect(meet(team, ['a'])).toEqual([]);
    expect(meet(team, ['a'], [], [SIDES[0], { ...SIDES[1], epoch: 3 }])).toEqual(TOLD);
    team.as('ann', 'task.complete', { taskId: '1' });
    expect(team.state.overlaps.size).toBe(0);
  });

  test('hear how many files there are besides those that are named', () => {
    const team = stage();
    team.as('@system', 'work.overlap', { sides: SIDES, files: 5, paths: ['a', 'b'], conflicts: [] });
    const [first] = [...team.state.messages.values()];
    expect(first?.content).toContain('have both changed a, b, and 3 more files. These changes merge so far.');
  });

  test('are not told if nobody of them and no lead can read it', () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', work: WORK, leadAgentType: 'none' });
    for (const [n, name] of ['ann', 'bob'].entries()) {
      team.as('@user', 'member.join', { name, agent: { kind: 'exec', command: ['true'] } });
      const taskId = team.task({}, '@user');
      team.as(name, 'task.claim', { taskId });
      const size = { files: 1, added: 1, removed: 0, paths: ['a'] };
      team.as(name, 'work.submit', {
        taskId,
        memberId: name,
        epoch: 1,
        base: commit(1),
        commit: commit(n + 2),
        ...size,
      });
      team.as('@user', 'member.leave', { memberId: name });
    }
    expect(meet(team, ['a'])).toEqual(['work:overlapped']);
  });

  test('are compared by Troupe alone', () => {
    const team = stage();
    const input = { sides: SIDES, files: 1, paths: ['a'], conflicts: [] };
    expect(team.refuse('ann', 'work.overlap', input).code).toBe('not_allowed');
    expect(team.refuse('@system', 'work.overlap', { ...input, sides: [SIDES[1], SIDES[0]] }).code).toBe('invalid');
  });
});

test('overlaps as a matrix have each file once, with those that conflict first', () => {
  const team = stage();
  meet(team, ['a', 'b'], ['b']);
  meet(team, ['a'], [], [SIDES[0], { memberId: 'cyd', taskId: '3', epoch: 1 }]);
  expect(overlapRows(overlapsOf(team.state))).toEqual([
    { path: 'b', members: ['ann', 'bob'], conflicting: ['ann', 'bob'] },
    { path: 'a', members: ['ann', 'bob', 'cyd'], conflicting: [] },
  ]);
  expect(overlapsOf(team.state, 'cyd')).toHaveLength(1);
});

test('files are ordered by conflicts, then by how many members changed them, then by name', () => {
  const side = (memberId: string, taskId: string) => ({ memberId, taskId, epoch: 1 });
  const between = (one: number, other: number, paths: string[], conflicts: string[] = []) => ({
    sides: [side(`m${one}`, `${one}`), side(`m${other}`, `${other}`)] as [
      ReturnType<typeof side>,
      ReturnType<typeof side>,
    ],
    files: paths.length,
    paths,
    conflicts,
  });
  const rows = overlapRows([
    between(1, 2, ['b', 'd', 'a', 'c', 'e']),
    between(1, 3, ['d']),
    between(2, 3, ['c'], ['c']),
  ]);
  expect(rows.map(({ path, members }) => [path, members.length])).toEqual([
    ['c', 3],
    ['d', 3],
    ['a', 2],
    ['b', 2],
    ['e', 2],
  ]);
});

test('overlaps are listed by the numbers of their tasks', () => {
  const team = teamOf('lena');
  const key = (one: number, other: number) => {
    const sides = [one, other].map((n) => ({ memberId: `m${n}`, taskId: `${n}`, epoch: 1 })) as never;
    const overlap = { sides, files: 1, paths: ['a'], conflicts: [], told: { paths: [], conflicts: [] }, times: 0 };
    team.state.overlaps.set(`${one}-${other}`, overlap);
  };
  for (const [one, other] of [
    [10, 11],
    [2, 10],
    [2, 3],
    [9, 1],
  ] as const) {
    key(one, other);
  }
  expect(overlapsOf(team.state).map(({ sides }) => sides.map(({ taskId }) => taskId).join('-'))).toEqual([
    '2-3',
    '2-10',
    '9-1',
    '10-11',
  ]);
});
