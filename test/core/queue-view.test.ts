import { describe, expect, test } from 'vitest';
import { approverOf, needsPerson } from '../../src/core/approval.ts';
import { PATHS_PER_WORK } from '../../src/core/limits.ts';
import { approverNow, isLanding, placeOf, viewQueue, wordLanding } from '../../src/core/queue-view.ts';
import { createState } from '../../src/core/state.ts';
import type { TaskRecord } from '../../src/core/state.ts';
import type { TeamWork } from '../../src/core/team-work.ts';
import { commit, WORK } from '../samples/work.ts';
import { Stage } from './stage.ts';

const EXEC = { kind: 'exec', command: ['true'] } as const;
const SIZE = { files: 1, added: 2, removed: 3, paths: ['a.txt'] };
const HOLDERS = ['', 'ann', 'bob', 'cyd'];

/** A team with workspaces, in which ann holds task 1, bob task 2 and cyd task 3. */
function teamApart(settings: Partial<TeamWork> = {}): Stage {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', work: { ...WORK, ...settings } });
  for (const name of HOLDERS.slice(1)) {
    team.do('member.join', { name, agent: EXEC });
    team.task({ title: `of ${name}` });
    team.claimNext(name);
  }
  return team;
}

function submit(team: Stage, n: number): void {
  const memberId = HOLDERS[n] as string;
  const taskId = String(n);
  team.as(memberId, 'work.submit', { taskId, memberId, epoch: 1, base: commit(1), commit: commit(n + 1), ...SIZE });
}

function begin(team: Stage, n: number): void {
  const works = [{ taskId: String(n), epoch: 1, commit: commit(n + 1) }];
  const landing = { landingId: `l${n}`, hostId: 'h1', onto: commit(1), merged: commit('a'), works };
  team.as('@system', 'landing.begin', landing);
}

describe('the merge queue', () => {
  test('lists work in its order, with its size and what is judged now', () => {
    const team = teamApart();
    submit(team, 2);
    submit(team, 1);
    const since = team.now;
    begin(team, 2);
    team.do('member.leave', { memberId: 'bob' });
    const size = { files: 1, added: 2, removed: 3, epoch: 1 };
    expect(viewQueue(team.state)).toEqual({
      entries: [
        {
          ...size,
          taskId: '2',
          title: 'of bob',
          memberId: 'bob',
          commit: commit(3),
          place: 1,
          since: since - 1_000,
          isLanding: true,
          hasLeft: true,
        },
        {
          ...size,
          taskId: '1',
          title: 'of ann',
          memberId: 'ann',
          commit: commit(2),
          place: 2,
          since,
          isLanding: false,
          hasLeft: false,
        },
      ],
      landingSince: since + 1_000,
      asked: [],
      sentBack: [],
    });
  });

  test('is empty in a team without workspaces', () => {
    expect(viewQueue(createState('alpha'))).toEqual({ entries: [], asked: [], sentBack: [] });
  });

  test('lists what went back, the newest first, with the first line of why', () => {
    const team = teamApart();
    for (const n of [1, 2, 3]) submit(team, n);
    team.as('@system', 'task.reject', { taskId: '1', feedback: 'Tests fail\nsee log', commit: commit(2) });
    const at = team.now;
    const work = { memberId: 'bob', epoch: 1, base: commit(1), commit: commit(3), onto: commit(1), ...SIZE };
    team.as('@system', 'task.reject', {
      taskId: '2',
      feedback: 'It conflicts',
      commit: commit(3),
      work: { ...work, conflicts: ['a.txt'] },
    });
    expect(viewQueue(team.state)).toMatchObject({
      entries: [{ taskId: '3', place: 1 }],
      sentBack: [
        { taskId: '2', title: 'of bob', memberId: 'bob', why: 'It conflicts', conflicts: ['a.txt'], at: at + 1_000 },
        { taskId: '1', title: 'of ann', memberId: 'ann', why: 'Tests fail', conflicts: [], at },
      ],
    });
  });

  test('shows a landing that brought nothing, while one of its tasks is open', () => {
    const team = teamApart();
    submit(team, 1);
    begin(team, 1);
    team.as('@system', 'landing.end', { landingId: 'l1', how: 'red', why: 'the tests fail' });
    expect(viewQueue(team.state).ended).toMatchObject({ how: 'red', why: 'the tests fail', tasks: ['1'] });
    team.as('@user', 'task.delete', { taskId: '1' });
    expect(viewQueue(team.state)).toEqual({ entries: [], asked: [], sentBack: [] });
  });

  test.each([
    ['a person', { approve: 'always' } as const, {}],
    ['the reviewer', { review: 'cyd' }, { reviewerId: 'cyd' }],
  ])('lists work apart that waits for %s, the oldest first', (_who, settings, reviewer) => {
    const team = teamApart(settings);
    for (const n of [2, 1]) {
      submit(team, n);
      begin(team, n);
      const work = { taskId: String(n), epoch: 1, commit: commit(n + 1), landingId: `l${n}` };
      team.as('@system', 'work.ask', { ...work, onto: commit(1), merged: commit('a') });
    }
    const { entries, asked } = viewQueue(team.state);
    expect(entries).toEqual([]);
    const { paths: _paths, ...size } = SIZE;
    expect(asked).toEqual([
      {
        taskId: '2',
        title: 'of bob',
        memberId: 'bob',
        commit: commit(3),
        ...size,
        since: asked[0]?.since,
        ...reviewer,
      },
      { taskId: '1', title: 'of ann', memberId: 'ann', commit: commit(2), ...size, since: team.now, ...reviewer },
    ]);
    expect(asked[0]?.since).toBeLessThan(team.now);
  });
});

test('what waits to land is said in a few words', () => {
  expect(wordLanding({})).toBe('waits to land');
  expect(wordLanding({ place: 2 })).toBe('waits to land, place 2');
  expect(wordLanding({ place: 1, isLanding: true })).toBe('landing now');
  expect(wordLanding({ waitsFor: { since: 1 } })).toBe('waits for a person to approve it');
  expect(wordLanding({ waitsFor: { since: 1, memberId: 'eyes' } })).toBe('waits for the review of eyes');
});

test('nobody approves what is not asked about, whatever else is asked about its task', () => {
  expect(approverNow(createState('alpha'), { id: '1' })).toBeUndefined();
  const work = { state: 'asked', memberId: 'ann', epoch: 1, base: commit(1) } as const;
  expect(approverNow(createState('alpha'), { id: '1', work })).toBeUndefined();
  const team = teamApart();
  team.as('ann', 'request.raise', { kind: 'question', memberId: 'ann', taskId: '1', content: 'Which?' });
  expect(approverNow(team.state, { id: '1', work })).toBeUndefined();
});

test('a place in the queue without work that waits is not shown', () => {
  const { state } = teamApart();
  if (state.team?.work) state.team = { ...state.team, work: { ...state.team.work, queue: ['1', '9'] } };
  expect(viewQueue(state).entries).toEqual([]);
});

test('what no team knows has no place in a queue, and does not land', () => {
  const none = createState('alpha');
  expect(placeOf(none, { id: '1', work: { memberId: 'ann', epoch: 1, base: commit(1), state: 'submitted' } })).toBe(0);
  expect(isLanding(none, '1')).toBe(false);
  const team = teamApart();
  expect([isLanding(team.state, '1'), placeOf(team.state, team.view('1'))]).toEqual([false, 0]);
  submit(team, 1);
  expect([isLanding(team.state, '1'), placeOf(team.state, team.view('1'))]).toEqual([false, 1]);
  begin(team, 1);
  expect([isLanding(team.state, '1'), isLanding(team.state, '2')]).toEqual([true, false]);
});

test('shows a landing that ended while one of its tasks is still to be done, by anybody', () => {
  const team = teamApart();
  submit(team, 1);
  begin(team, 1);
  const ended = { landingId: 'l1', how: 'red', why: 'one test fails' } as const;
  team.as('@system', 'landing.end', ended);
  expect(viewQueue(team.state).ended).toMatchObject({ how: 'red', tasks: ['1'] });
  team.as('@system', 'task.reject', { taskId: '1', feedback: 'red' });
  team.as('ann', 'task.release', { taskId: '1' });
  expect(team.view('1').status).toBe('pending');
  expect(viewQueue(team.state).ended).toMatchObject({ tasks: ['1'] });
  team.do('task.delete', { taskId: '1' });
  expect(viewQueue(team.state)).not.toHaveProperty('ended');
});

test('who approves a work: nobody, its reviewer, or a person, who is told why', () => {
  const work = { state: 'submitted', memberId: 'ann', epoch: 1, base: commit(1), commit: commit(2), files: 1 } as const;
  const approver = (settings: Partial<TeamWork> | undefined, more: object | null = {}, team = teamApart(settings)) => {
    const record = { ...team.state.tasks.get('1'), work: more === null ? undefined : { ...work, ...more } };
    return approverOf(team.state, record as TaskRecord);
  };
  expect(approver({})).toBeUndefined();
  expect(approver({ approve: 'never' })).toBeUndefined();
  expect(approver({ approve: 'always' })).toStrictEqual({ kind: 'work' });
  expect(approver({ approve: 'always' }, { approved: commit(2) })).toBeUndefined();
  expect(approver({ approve: 'always' }, { approved: commit(3) })).toStrictEqual({ kind: 'work' });
  expect(approver({ approve: 'always' }, null)).toBeUndefined();
  expect(approver({ approve: 'always' }, { commit: undefined })).toBeUndefined();
  expect(approver({ approve: 'always' }, { commit: undefined, approved: commit(2) })).toBeUndefined();
  expect(approver({ review: 'bob' })).toStrictEqual({ kind: 'review', memberId: 'bob' });
  expect(approver({ review: 'ann' })).toMatchObject({ kind: 'work', why: 'ann does not review its own work.' });
  expect(approver({ review: 'eve' })).toMatchObject({ kind: 'work', why: 'The reviewer eve is not there.' });
  const left = teamApart({ review: 'bob' });
  left.as('@system', 'member.leave', { memberId: 'bob', returning: true });
  expect(approver(undefined, {}, left)).toMatchObject({ kind: 'review' });
  left.as('@user', 'member.leave', { memberId: 'bob' });
  expect(approver(undefined, {}, left)).toMatchObject({ why: 'The reviewer bob is not there.' });
  const none = new Stage();
  none.as('@user', 'team.create', { name: 'alpha' });
  expect([approver(undefined, {}, none), approver(undefined, {}, new Stage())]).toEqual([undefined, undefined]);
});

test('work needs a person if its paths are listed, or not all of them are known', () => {
  const approve = { paths: ['src/**'] };
  const needs = (files: number, paths: string[]) => needsPerson({ approve }, { files, paths } as never);
  expect([needs(1, ['docs/a']), needs(2, ['docs/a', 'src/a']), needs(2, ['docs/a'])]).toEqual([false, true, true]);
  const many = (count: number) => Array.from({ length: count }, (_none, n) => `docs/${n}`);
  expect(needs(PATHS_PER_WORK - 1, many(PATHS_PER_WORK - 1))).toBe(false);
  expect(needs(PATHS_PER_WORK, many(PATHS_PER_WORK))).toBe(true);
  expect([needsPerson({}, {} as never), needsPerson({ approve }, {} as never)]).toEqual([false, false]);
});
