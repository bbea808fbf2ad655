import { describe, expect, test } from 'vitest';
import type { HandedIn, SubmitWorkInput } from '../../../src/core/work.ts';
import { commit, WORK } from '../../samples/work.ts';
import { Stage, types } from '../stage.ts';
import type { InputOf } from '../stage.ts';

const EXEC = { kind: 'exec', command: ['true'] } as const;
const SIZE = { files: 1, added: 1, removed: 0, paths: ['a.txt'] };

/** A team with workspaces, in which ann holds task 1, bob task 2 and cyd task 3. */
function teamApart(): Stage {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', work: WORK });
  for (const name of ['ann', 'bob', 'cyd']) {
    team.do('member.join', { name, agent: EXEC });
    team.task();
    team.claimNext(name);
  }
  return team;
}

const HOLDERS = ['', 'ann', 'bob', 'cyd'];

/** What the holder of a task hands in: commit 2 for task 1, and so on. */
function submission(n: number, more: Partial<SubmitWorkInput> = {}): InputOf<'work.submit'> {
  const memberId = HOLDERS[n] as string;
  return { taskId: String(n), memberId, epoch: 1, base: commit(1), commit: commit(n + 1), ...SIZE, ...more };
}

function submit(team: Stage, ...tasks: number[]): void {
  for (const n of tasks) team.as(HOLDERS[n] as string, 'work.submit', submission(n));
}

/** The landing of these tasks onto the tip. */
const landing = (...tasks: number[]): InputOf<'landing.begin'> => ({
  landingId: 'l1',
  hostId: 'h1',
  onto: commit(1),
  merged: commit('a'),
  works: tasks.map((n) => ({ taskId: String(n), epoch: 1, commit: commit(n + 1) })),
});

/** A completion that lands the work of a task. */
function landed(n: number, more: Partial<HandedIn> = {}): InputOf<'task.complete'> {
  const { taskId, ...work } = submission(n);
  return { taskId, work: { ...work, onto: commit(1), merged: commit('a'), landingId: 'l1', ...more } };
}

const queueOf = (team: Stage): readonly string[] | undefined => team.state.team?.work?.queue;

describe('the merge queue', () => {
  test('has works in the order in which they were handed in, and each waits with its completer and result', () => {
    const team = teamApart();
    submit(team, 2, 1);
    team.as('cyd', 'work.submit', { ...submission(3), result: 'done' });
    expect(queueOf(team)).toEqual(['2', '1', '3']);
    expect(team.view('3')).toMatchObject({
      status: 'in_progress',
      work: { state: 'submitted', completer: 'cyd', result: 'done', queuedAt: team.now },
    });
    expect(team.as('cyd', 'work.submit', submission(3))).toEqual([]);
  });

  test('lets only the holder or a manager hand in work, and only under the present epoch', () => {
    const team = teamApart();
    expect(team.refuse('bob', 'work.submit', submission(1))).toMatchObject({ code: 'not_allowed' });
    expect(team.refuse('ann', 'work.submit', submission(1, { epoch: 7 }))).toMatchObject({ code: 'stale_epoch' });
    expect(team.refuse('@system', 'work.submit', submission(1, { memberId: 'bob' }))).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('bob does not hold task 1'),
    });
  });

  test('lands several works together, one after the other; each moves the tip', () => {
    const team = teamApart();
    submit(team, 1, 2, 3);
    expect(types(team.as('@system', 'landing.begin', landing(1, 2)))).toEqual(['landing:begun']);
    expect(team.as('@system', 'landing.begin', landing(1, 2))).toEqual([]);
    expect(types(team.as('ann', 'task.complete', landed(1)))).toEqual(['work:landed', 'task:completed']);
    expect(team.state.team?.work).toMatchObject({ tip: commit('a'), landing: { works: [{ taskId: '2' }] } });
    team.as('bob', 'task.complete', landed(2, { onto: commit('a'), merged: commit('b') }));
    expect(team.state.team?.work).toMatchObject({ tip: commit('b'), queue: ['3'], queueHost: 'h1' });
    expect(team.state.team?.work?.landing).toBeUndefined();
    expect(team.view('1').work).toMatchObject({ state: 'landed', onto: commit(1), merged: commit('a') });
    expect(team.view('1').work?.completer).toBeUndefined();
  });

  test('is the only way for work that was done apart, except without changes and by a person', () => {
    const team = teamApart();
    const refusal = { code: 'conflict', message: 'The work of task 1 has to land first: hand it in' };
    expect(team.refuse('ann', 'task.complete', { taskId: '1' })).toMatchObject(refusal);
    expect(team.refuse('lead', 'task.complete', landed(1, { landingId: undefined }))).toMatchObject(refusal);
    expect(team.refuse('@system', 'task.complete', { taskId: '1' })).toMatchObject(refusal);
    team.as('ann', 'task.complete', landed(1, { landingId: undefined, files: 0, merged: undefined }));
    team.as('@user', 'task.complete', { taskId: '2' });
    expect(team.tasks('completed')).toEqual(['1', '2']);
  });

  test('has one landing at a time, which only Troupe begins and ends', () => {
    const team = teamApart();
    submit(team, 1, 2);
    expect(team.refuse('lead', 'landing.begin', landing(1))).toMatchObject({
      code: 'not_allowed',
      message: 'lead may not land work: only Troupe itself may',
    });
    expect(team.refuse('@system', 'landing.begin', { ...landing(1), onto: commit(9) })).toMatchObject({
      code: 'stale_revision',
      message: 'The branch troupe/alpha is at 1111111 now, not at 9999999: merge the work of team alpha again',
    });
    expect(team.refuse('@system', 'landing.begin', landing(3))).toMatchObject({
      code: 'stale_revision',
      message: 'The work 4444444 of task 3 is not in the merge queue any more: look at the queue again',
    });
    team.as('@system', 'landing.begin', landing(1));
    expect(team.refuse('@system', 'landing.begin', { ...landing(2), landingId: 'l2', hostId: 'h2' })).toMatchObject({
      code: 'conflict',
      message: 'h1 lands works of team alpha already',
    });
    expect(team.as('@system', 'landing.end', { landingId: 'l2', how: 'dropped', why: 'w' })).toEqual([]);
    const end = { landingId: 'l1', how: 'red', why: 'the tests fail' } as const;
    expect(team.refuse('@user', 'landing.end', end)).toMatchObject({ code: 'not_allowed' });
    expect(types(team.as('@system', 'landing.end', end))).toEqual(['landing:ended']);
    expect(queueOf(team)).toEqual(['1', '2']);
    expect(team.refuse('ann', 'task.complete', landed(1))).toMatchObject({
      code: 'stale_revision',
      message: 'The landing of task 1 is over: look at the queue again',
    });
  });

  test('keeps the place of work that was sent back', () => {
    const team = teamApart();
    submit(team, 1, 2);
    team.as('@system', 'task.reject', { taskId: '1', feedback: 'again', commit: commit(2) });
    expect(queueOf(team)).toEqual(['2']);
    expect(team.view('1')).toMatchObject({ status: 'in_progress', rejections: 1, work: { state: 'begun' } });
    team.as('ann', 'work.begin', { taskId: '1', memberId: 'ann', epoch: 1, base: commit(1) });
    team.as('ann', 'work.submit', submission(1, { commit: commit(7) }));
    expect(queueOf(team)).toEqual(['1', '2']);
  });

  test('refuses a verdict about work that its holder has replaced', () => {
    const team = teamApart();
    submit(team, 1, 2);
    team.as('@system', 'landing.begin', landing(1, 2));
    team.as('ann', 'work.submit', submission(1, { commit: commit(7) }));
    expect(team.refuse('ann', 'task.complete', landed(1))).toMatchObject({ code: 'stale_revision' });
    const verdict = { taskId: '1', feedback: 'again', commit: commit(2) };
    expect(team.refuse('@system', 'task.reject', verdict)).toMatchObject({ code: 'stale_revision' });
    expect(queueOf(team)).toEqual(['1', '2']);
  });

  test.each<[string, (team: Stage) => unknown, string]>([
    ['release', (team) => team.as('ann', 'task.release', { taskId: '1' }), 'the task was released'],
    [
      'assign',
      (team) => team.do('task.assign', { taskId: '1', assigneeId: 'bob' }),
      'the task was given to another member',
    ],
    ['fail', (team) => team.as('ann', 'task.fail', { taskId: '1', reason: 'x' }), 'the task failed'],
    ['delete', (team) => team.do('task.delete', { taskId: '1' }), 'the task was deleted'],
    ['complete', (team) => team.as('@user', 'task.complete', { taskId: '1' }), 'the task was completed without it'],
    ['close', (team) => team.do('team.close', { force: true }), 'team closed'],
    [
      'a gate that cannot judge',
      (team) => team.as('@system', 'task.reject', { taskId: '1', feedback: 'no npm', unable: true }),
      'no npm',
    ],
  ])('withdraws work: %s', (_name, end, why) => {
    const team = teamApart();
    submit(team, 1);
    team.as('@system', 'landing.begin', landing(1));
    end(team);
    expect(queueOf(team)).toEqual([]);
    expect(types(team.events)).toContain('work:withdrawn');
    expect(team.view('1').work).toMatchObject({ state: 'begun', withdrawn: why });
  });

  test('takes out work that its holder goes on with, or that has no changes any more', () => {
    const team = teamApart();
    submit(team, 1, 2);
    team.as('ann', 'work.begin', { taskId: '1', memberId: 'ann', epoch: 1, base: commit(1) });
    expect(queueOf(team)).toEqual(['2']);
    team.as('bob', 'work.submit', submission(2, { commit: commit(1), files: 0 }));
    expect(queueOf(team)).toEqual([]);
    expect(team.view('2').work?.state).toBe('unchanged');
  });

  test('keeps the work of a member that stopped, and lands it', () => {
    const team = teamApart();
    submit(team, 1);
    expect(types(team.do('member.leave', { memberId: 'ann' }))).toEqual(['teammate:stopped', 'work:left']);
    expect(team.view('1')).toMatchObject({ status: 'in_progress', work: { state: 'submitted', left: true } });
    team.as('@system', 'landing.begin', landing(1));
    team.as('ann', 'task.complete', landed(1));
    expect(team.view('1')).toMatchObject({ status: 'completed', assigneeId: 'ann' });
  });

  test('says once that its holder has left', () => {
    const team = teamApart();
    submit(team, 1);
    expect(types(team.as('@system', 'member.place', { memberId: 'ann', hostId: 'h1' }))).toContain('work:left');
    expect(types(team.do('member.leave', { memberId: 'ann' }))).toEqual(['teammate:stopped']);
  });

  test('gives back the task of a member that stopped or was started again, if its work is sent back', () => {
    const team = teamApart();
    submit(team, 1, 2);
    team.do('member.leave', { memberId: 'ann' });
    expect(types(team.as('@system', 'member.place', { memberId: 'bob', hostId: 'h1' }))).toContain('work:left');
    const rejected = team.as('@system', 'task.reject', { taskId: '1', feedback: 'again' });
    expect(types(rejected)).toEqual(['task:rejected', 'task:released']);
    expect(rejected[1]).toMatchObject({ reason: 'its work was sent back after its holder had stopped' });
    const { taskId: _taskId, ...work } = submission(2);
    const conflicted = { ...work, onto: commit(1), conflicts: ['a.txt'] };
    const sentBack = team.as('@system', 'task.reject', { taskId: '2', feedback: 'both', work: conflicted });
    expect(types(sentBack)).toEqual(['work:conflicted', 'task:released']);
    expect(queueOf(team)).toEqual([]);
    // The next holder is there: its work goes back to it.
    team.as('cyd', 'task.claim', { taskId: '1' });
    expect(types(team.as('@user', 'task.reject', { taskId: '1', feedback: 'again' }))).toEqual(['task:rejected']);
    expect(team.view('1')).toMatchObject({ status: 'in_progress', assigneeId: 'cyd' });
  });

  test('frees a task that was reserved for a member that stopped', () => {
    const team = teamApart();
    team.task({ assigneeId: 'ann' });
    team.as('ann', 'task.claim', { taskId: '4' });
    team.as('ann', 'work.submit', { ...submission(1), taskId: '4' });
    team.do('member.leave', { memberId: 'ann' });
    team.as('@system', 'task.reject', { taskId: '4', feedback: 'again' });
    team.as('bob', 'task.claim', { taskId: '4' });
    expect(team.view('4').assigneeId).toBe('bob');
  });

  test('closes with the team, also if a holder had stopped before', () => {
    const team = teamApart();
    submit(team, 1);
    team.do('member.leave', { memberId: 'ann' });
    team.do('team.close', { force: true });
    expect(queueOf(team)).toEqual([]);
    expect(team.view('1')).toMatchObject({ status: 'pending', work: { withdrawn: 'team closed' } });
  });

  test.each([
    ['in the landing', 1],
    ['outside it', 3],
  ])('ends a landing if a person accepts work %s', (_name, n) => {
    const team = teamApart();
    submit(team, 1, 2, 3);
    team.as('@system', 'landing.begin', landing(1, 2));
    team.as('@user', 'task.complete', landed(n, { landingId: undefined, merged: commit('c') }));
    expect(team.state.team?.work?.tip).toBe(commit('c'));
    expect(team.state.team?.work?.landing).toBeUndefined();
    expect(team.refuse('bob', 'task.complete', landed(2))).toMatchObject({ code: 'stale_revision' });
    expect(queueOf(team)).toEqual(n === 1 ? ['2', '3'] : ['1', '2']);
  });
});

test('work without changes needs no pack, also if work travels', () => {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', work: { ...WORK, roots: [commit(1)] } });
  team.do('member.join', { name: 'ann', agent: EXEC });
  team.task();
  team.claimNext('ann');
  expect(team.refuse('ann', 'work.submit', submission(1)).message).toContain('store its pack first');
  const none = submission(1, { files: 0, added: 0, paths: [] });
  expect(() => team.as('ann', 'work.submit', none)).not.toThrow();
});

describe('work that does not merge, which a person completes', () => {
  const conflicted = (conflicts: string[]) => {
    const { taskId, ...work } = submission(1);
    return { taskId, work: { ...work, onto: commit(1), conflicts } };
  };

  test('is told to the lead and the holder, with where it is and how to bring it in', () => {
    const team = teamApart();
    team.as('@user', 'task.complete', conflicted(['a.txt']));
    const mails = [...team.state.messages.values()];
    expect(mails.map(({ id, toId }) => [id, toId])).toEqual([
      ['work-1-1/lead', 'lead'],
      ['work-1-1/ann', 'ann'],
    ]);
    expect(mails[0]).toMatchObject({
      fromId: '@system',
      type: 'system',
      priority: 'normal',
      metadata: { taskId: '1' },
      content:
        'Task #1 ("a task") is completed, but its work does not merge onto troupe/alpha: a.txt conflicts with work that ' +
        'landed before. Nothing is lost: commit 2222222 has it, and troupe diff 1 shows it. To bring it in, make a task ' +
        'that repeats these changes on the present files.',
    });
    const two = teamApart();
    two.as('@user', 'task.complete', conflicted(['a.txt', 'b.txt']));
    expect([...two.state.messages.values()][0]?.content).toContain('a.txt, b.txt conflict with work');
  });

  test('is told to nobody if nobody is there to read it', () => {
    const team = teamApart();
    submit(team, 1);
    for (const memberId of ['ann', 'lead']) team.as('@user', 'member.leave', { memberId });
    expect(types(team.as('@user', 'task.complete', conflicted(['a.txt'])))).toEqual([
      'work:conflicted',
      'task:completed',
    ]);
  });
});

test('the same commit under another epoch, or without changes, is another submission', () => {
  const team = teamApart();
  submit(team, 1);
  team.as('ann', 'task.release', { taskId: '1' });
  team.as('ann', 'task.claim', { taskId: '1' });
  expect(types(team.as('ann', 'work.submit', submission(1, { epoch: 3 })))).toEqual(['work:submitted']);
  expect(team.as('ann', 'work.submit', submission(1, { epoch: 3 }))).toEqual([]);
  expect(types(team.as('ann', 'work.submit', submission(1, { epoch: 3, files: 0 })))).toEqual(['work:submitted']);
});

test('what a model refused lands only if a gate or a person accepts it', () => {
  const team = teamApart();
  team.as('ann', 'work.submit', { ...submission(1), refused: true });
  team.as('bob', 'work.submit', { ...submission(2), refused: false });
  expect([1, 2].map((n) => team.view(String(n)).work?.refused)).toEqual([true, undefined]);
  expect(team.view('2').work).not.toHaveProperty('refused');
  expect(team.view('2').work).not.toHaveProperty('result');
  team.as('@system', 'landing.begin', landing(1, 2));
  expect(team.refuse('ann', 'task.complete', landed(1))).toMatchObject({
    code: 'conflict',
    message: 'The model refused task 1: a gate or a person has to accept it first',
  });
  team.as('ann', 'task.complete', { ...landed(1), accepted: true });
  // What its completer says of the model counts only for work that did not wait.
  team.as('bob', 'task.complete', { ...landed(2, { onto: commit('a'), merged: commit('b') }), refused: true });
  expect(team.tasks('completed')).toEqual(['1', '2']);
});
