import { describe, expect, test } from 'vitest';
import type { HandedIn } from '../../../src/core/work.ts';
import { commit, WORK } from '../../samples/work.ts';
import { Stage, types } from '../stage.ts';

const EXEC = { kind: 'exec', command: ['true'] } as const;

/** A team with workspaces, in which ann holds task 1 and bob task 2. */
function teamApart(): Stage {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', work: WORK });
  for (const name of ['ann', 'bob']) {
    team.do('member.join', { name, agent: EXEC });
    team.task();
    team.claimNext(name);
  }
  return team;
}

const handed = (memberId: string, more: Partial<HandedIn> = {}): HandedIn => ({
  memberId,
  epoch: 1,
  base: commit(1),
  commit: commit(2),
  files: 1,
  added: 1,
  removed: 0,
  paths: ['a.txt'],
  onto: commit(1),
  merged: commit(3),
  ...more,
});

describe('work', () => {
  test('that a person accepts lands with its task, in one step, and moves the tip', () => {
    const team = teamApart();
    const events = team.as('@user', 'task.complete', { taskId: '1', work: handed('ann') });
    expect(types(events)).toEqual(['work:submitted', 'work:landed', 'task:completed']);
    expect(team.state.team?.work).toMatchObject({ base: commit(1), tip: commit(3) });
    expect(team.view('1').work).toMatchObject({ state: 'landed', onto: commit(1), merged: commit(3) });
  });

  test('that was merged onto an older tip is refused, and lands once it is merged again', () => {
    const team = teamApart();
    team.as('@user', 'task.complete', { taskId: '1', work: handed('ann') });
    const late = { taskId: '2', work: handed('bob', { commit: commit(4), merged: commit(5) }) };
    expect(team.refuse('@user', 'task.complete', late)).toMatchObject({
      code: 'stale_revision',
      message: 'The branch troupe/alpha is at 3333333 now, not at 1111111: merge the work of task 2 again',
    });
    team.as('@user', 'task.complete', { ...late, work: { ...late.work, onto: commit(3) } });
    expect(team.state.team?.work?.tip).toBe(commit(5));
  });

  test('of a team on several machines counts only if its pack lies where all of them find it', () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', work: { ...WORK, roots: [commit(1)] } });
    team.do('member.join', { name: 'ann', agent: EXEC });
    team.task();
    team.claimNext('ann');
    const { onto: _onto, merged: _merged, ...work } = handed('ann');
    expect(team.refuse('ann', 'work.submit', { taskId: '1', ...work })).toMatchObject({
      code: 'conflict',
      message: 'The work of task 1 lies on one machine only: store its pack first',
    });
    const pack = { commit: commit(4), hash: 'a'.repeat(64), size: 500 };
    const [submitted] = team.as('ann', 'work.submit', { taskId: '1', ...work, pack });
    expect(submitted).toMatchObject({ type: 'work:submitted', pack });
  });

  test('of an earlier holder does not count', () => {
    const team = teamApart();
    team.do('task.assign', { taskId: '1', assigneeId: 'bob' });
    team.as('bob', 'task.claim', { taskId: '1' });
    const old = { taskId: '1', work: handed('ann') };
    expect(team.refuse('@user', 'task.complete', old)).toMatchObject({ code: 'conflict' });
    const wrong = { taskId: '1', work: handed('bob') };
    expect(team.refuse('@user', 'task.complete', wrong)).toMatchObject({ code: 'stale_epoch' });
    team.as('@user', 'task.complete', { taskId: '1', work: handed('bob', { epoch: team.view('1').epoch }) });
    expect(team.view('1').work?.state).toBe('landed');
  });

  test('that a person accepts though it conflicts is kept: the task is completed, the tip stays, and the lead and the holder are told once', () => {
    const team = teamApart();
    const work = handed('ann', { merged: undefined, conflicts: ['a.txt', 'b.txt'] });
    const events = team.as('@user', 'task.complete', { taskId: '1', work });
    expect(types(events)).toEqual(['work:submitted', 'work:conflicted', 'message:sent', 'task:completed']);
    expect(team.state.team?.work?.tip).toBe(commit(1));
    expect(team.view('1').work).toMatchObject({
      state: 'conflicted',
      commit: commit(2),
      conflicts: ['a.txt', 'b.txt'],
    });
    const told = [...team.state.messages.values()].map(({ toId, fromId, content }) => [toId, fromId, content]);
    expect(told).toEqual([
      ['lead', '@system', expect.stringContaining('a.txt, b.txt conflict with work that landed before')],
      ['ann', '@system', expect.stringContaining('commit 2222222 has it, and troupe diff 1 shows it')],
    ]);
  });

  test.each([
    ['a lead that the team does not have', 'none', ['ann']],
    ['a lead', 'person', ['lead', 'ann']],
  ])('that conflicts is told only to those that read it: %s', (_what, leadAgentType, readers) => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', work: WORK, leadAgentType });
    team.as('@user', 'member.join', { name: 'ann', agent: EXEC });
    team.task({}, '@user');
    team.claimNext('ann');
    const work = handed('ann', { merged: undefined, conflicts: ['a.txt'] });
    team.as('@user', 'task.complete', { taskId: '1', work });
    expect([...team.state.messages.values()].map(({ toId }) => toId)).toEqual(readers);
    expect([...team.state.messages.values()][0]?.content).toContain('a.txt conflicts with work that landed before');
  });

  test('that conflicts is told to nobody if its holder and the lead have stopped', () => {
    const team = teamApart();
    const { onto: _onto, merged: _merged, ...work } = handed('ann');
    team.as('ann', 'work.submit', { taskId: '1', ...work });
    for (const memberId of ['ann', 'lead']) team.as('@user', 'member.leave', { memberId });
    const conflicted = handed('ann', { merged: undefined, conflicts: ['a.txt'] });
    expect(types(team.as('@user', 'task.complete', { taskId: '1', work: conflicted }))).toEqual([
      'work:conflicted',
      'task:completed',
    ]);
  });

  test('whose model refused lands only if a gate or a person accepts it', () => {
    const refused = (accepted?: boolean, by = '@system') => {
      const team = teamApart();
      const { onto, merged, ...work } = handed('ann');
      team.as('ann', 'work.submit', { taskId: '1', ...work, refused: true });
      expect(team.view('1').work?.refused).toBe(true);
      const works = [{ taskId: '1', epoch: 1, commit: commit(2) }];
      team.as('@system', 'landing.begin', { landingId: 'l1', hostId: 'h1', onto, merged: commit(3), works });
      const landed = { taskId: '1', accepted, work: { ...work, onto, merged, landingId: 'l1' } };
      return () => team.as(by, 'task.complete', landed);
    };
    expect(refused()).toThrow('The model refused task 1: a gate or a person has to accept it first');
    expect(types(refused(true)())).toEqual(['work:landed', 'task:completed']);
    expect(types(refused(undefined, '@user')())).toEqual(['work:landed', 'task:completed']);
  });

  test('that is put aside for another task is no longer in the folder, until its holder begins it again', () => {
    const team = teamApart();
    const about = { taskId: '1', memberId: 'ann', epoch: 1, base: commit(1) };
    const keep = { memberId: 'ann', taskId: '1', commit: commit(8), ref: 'refs/saves/alpha/1', why: 'it goes on' };
    team.as('ann', 'work.begin', about);
    team.as('@system', 'work.keep', { ...keep, memberId: 'bob' });
    team.as('@system', 'work.keep', { ...keep, taskId: '9' });
    expect(team.view('1').work?.aside).toBeUndefined();
    team.as('@system', 'work.keep', keep);
    expect(team.view('1').work).toMatchObject({ state: 'begun', aside: commit(8) });
    // What a person hands in meanwhile is not in the folder either.
    const { onto: _onto, merged: _merged, ...work } = handed('ann');
    team.as('@user', 'work.submit', { taskId: '1', ...work });
    expect(team.view('1').work).toMatchObject({ state: 'submitted', aside: commit(8) });
    team.as('ann', 'work.begin', about);
    expect(team.view('1').work?.aside).toBeUndefined();
  });

  test('that conflicts goes back to its holder, and after five times a person is asked', () => {
    const team = teamApart();
    const conflicted = { merged: undefined, conflicts: ['a.txt'] };
    const back = (more: Partial<HandedIn> = {}) => ({
      taskId: '1',
      feedback: 'bring both together',
      result: 'done',
      work: handed('ann', { ...conflicted, ...more }),
    });
    const stale = back({ onto: commit(9) });
    expect(team.refuse('@system', 'task.reject', stale)).toMatchObject({ code: 'stale_revision' });
    expect(team.refuse('ann', 'task.reject', back())).toMatchObject({ code: 'not_allowed' });
    for (let times = 1; times < 5; times++) {
      const work = back({ commit: commit(times + 1) });
      expect(types(team.as('@system', 'task.reject', work))).toEqual(['work:submitted', 'work:conflicted']);
      // The same again, because a daemon was killed before it laid both sides into the folder: that counts once.
      team.as('@system', 'task.reject', work);
      expect(team.view('1')).toMatchObject({
        status: 'in_progress',
        rejections: 0,
        feedback: 'bring both together',
        work: { state: 'conflicted', base: commit(1), onto: commit(1), conflicts: ['a.txt'], sentBack: times },
      });
      team.as('ann', 'work.begin', { taskId: '1', memberId: 'ann', epoch: 1, base: commit(1) });
    }
    const last = team.as('@system', 'task.reject', back({ commit: commit(6) }));
    expect(types(last)).toEqual(['work:submitted', 'work:conflicted', 'request:raised']);
    const [request] = [...team.state.requests.values()];
    expect(request).toMatchObject({ kind: 'gate', taskId: '1', detail: { conflicted: true, result: 'done' } });
    expect(request?.content).toContain('conflicted with landed work 5 times, now in a.txt.');
    // A yes completes the task. Its work stays as it was handed in, and the tip where it is.
    const answer = { requestId: request?.id ?? '', approve: true, work: handed('ann') };
    expect(types(team.as('@user', 'request.answer', answer))).toEqual(['request:answered', 'task:completed']);
    expect(team.view('1')).toMatchObject({ status: 'completed', result: 'done', work: { state: 'conflicted' } });
    expect(team.state.team?.work?.tip).toBe(commit(1));
  });

  test('that went back counts again for another holder', () => {
    const team = teamApart();
    const work = handed('ann', { merged: undefined, conflicts: ['a.txt'] });
    team.as('@system', 'task.reject', { taskId: '1', feedback: 'again', work });
    team.as('ann', 'task.release', { taskId: '1' });
    team.as('bob', 'task.claim', { taskId: '1' });
    const epoch = team.view('1').epoch;
    team.as('bob', 'work.begin', { taskId: '1', memberId: 'bob', epoch, base: commit(1) });
    expect(team.view('1').work).toEqual({ memberId: 'bob', epoch, base: commit(1), state: 'begun' });
  });

  test('without changes completes the task and leaves the tip', () => {
    const team = teamApart();
    const work = handed('ann', { files: 0, added: 0, paths: [], merged: undefined });
    expect(types(team.as('ann', 'task.complete', { taskId: '1', work }))).toEqual(['work:submitted', 'task:completed']);
    expect(team.view('1').work?.state).toBe('unchanged');
  });

  test('begins in the workspace of the holder alone', () => {
    const team = teamApart();
    const begin = { taskId: '1', memberId: 'ann', epoch: 1, base: commit(1) };
    expect(team.refuse('bob', 'work.begin', begin)).toMatchObject({ code: 'not_allowed' });
    expect(team.refuse('bob', 'work.begin', { ...begin, memberId: 'bob' })).toMatchObject({ code: 'conflict' });
    expect(types(team.as('ann', 'work.begin', begin))).toEqual(['work:begun']);
    expect(team.as('ann', 'work.begin', begin)).toEqual([]);
    team.join('cyd');
    team.task();
    team.claimNext('cyd');
    const apart = { taskId: '3', memberId: 'cyd', epoch: 1, base: commit(1) };
    expect(team.refuse('cyd', 'work.begin', apart)).toMatchObject({ code: 'conflict' });
  });

  test('keeps its beginning and its branch for the life of the team', () => {
    const team = teamApart();
    expect(team.refuse('@user', 'team.update', { work: { ...WORK, base: commit(9) } })).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^Team alpha began from 1111111 on troupe\/alpha, and that cannot change/),
    });
    team.as('@user', 'task.complete', { taskId: '1', work: handed('ann') });
    team.as('@user', 'team.update', { work: { ...WORK, copy: ['.env'] } });
    expect(team.state.team?.work).toMatchObject({ copy: ['.env'], tip: commit(3) });
  });

  test('goes on as it is when the settings of the team change', () => {
    const team = teamApart();
    team.as('@system', 'work.lose', {
      from: commit(1),
      to: commit(7),
      works: [{ taskId: '9', merged: commit(1) }],
      why: 'gone',
    });
    team.as('@user', 'tip.move', { from: commit(7), to: commit(1), rewritten: true });
    const { onto, merged: _merged, ...work } = handed('ann');
    team.as('ann', 'work.submit', { taskId: '1', ...work });
    const works = [{ taskId: '1', epoch: 1, commit: commit(2) }];
    const begin = (landingId: string) =>
      team.as('@system', 'landing.begin', { landingId, hostId: 'h1', onto, merged: commit(3), works });
    begin('l1');
    team.as('@system', 'landing.end', { landingId: 'l1', how: 'red', why: 'the tests fail' });
    begin('l2');
    const { copy: _copy, ...before } = team.state.team?.work ?? {};
    team.as('@user', 'team.update', { work: { ...WORK, copy: ['.env'] } });
    expect(team.state.team?.work).toEqual({ ...before, copy: ['.env'] });
    expect(before).toMatchObject({
      queue: ['1'],
      landing: { id: 'l2' },
      queueHost: 'h1',
      ended: { why: 'the tests fail' },
      rewritten: true,
      lost: [{ taskId: '9' }],
    });
  });
});
