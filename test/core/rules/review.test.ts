import { describe, expect, test } from 'vitest';
import { needsPerson } from '../../../src/core/approval.ts';
import { evolve } from '../../../src/core/evolve.ts';
import { PATHS_PER_WORK, REVIEW_BYTES } from '../../../src/core/limits.ts';
import type { TeamRequest } from '../../../src/core/request.ts';
import { reviewText } from '../../../src/core/rules/review.ts';
import type { TeamWork } from '../../../src/core/team-work.ts';
import type { SubmitWorkInput } from '../../../src/core/work.ts';
import { commit, WORK } from '../../samples/work.ts';
import { Stage, types } from '../stage.ts';

const EXEC = { kind: 'exec', command: ['true'] } as const;

/** A team in which ann holds task 1 and bob task 2; eyes only looks. */
function teamApart(settings: Partial<TeamWork>): Stage {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', work: { ...WORK, ...settings } });
  for (const name of ['ann', 'bob']) {
    team.do('member.join', { name, agent: EXEC });
    team.task();
    team.claimNext(name);
  }
  team.do('member.join', { name: 'eyes', agent: EXEC });
  return team;
}

const HOLDERS = ['', 'ann', 'bob'];

/** Hands in commit 2 for task 1, or commit 3 for task 2, and begins its landing. */
function accept(team: Stage, n: number, more: Partial<SubmitWorkInput> = {}): void {
  const memberId = HOLDERS[n] as string;
  const size = { files: 1, added: 2, removed: 1, paths: ['src/a.ts'] };
  const work = { taskId: String(n), memberId, epoch: 1, base: commit(1), commit: commit(n + 1), ...size, ...more };
  team.as(memberId, 'work.submit', { ...work, result: 'it is done' });
  const works = [{ taskId: String(n), epoch: 1, commit: work.commit }];
  const onto = team.state.team?.work?.tip ?? '';
  team.as('@system', 'landing.begin', { landingId: `l${n}`, hostId: 'h1', onto, merged: commit('a'), works });
}

function ask(team: Stage, n: number, more: object = {}): ReturnType<Stage['as']> {
  const onto = team.state.team?.work?.tip ?? '';
  const work = { taskId: String(n), epoch: 1, commit: commit(n + 1), landingId: `l${n}`, onto, merged: commit('a') };
  return team.as('@system', 'work.ask', { ...work, ...more });
}

function pending(team: Stage): TeamRequest[] {
  return [...team.state.requests.values()].filter(({ status }) => status === 'pending');
}

/** The branch goes on with work that a person completes. */
function moveTip(team: Stage): void {
  const work = { memberId: 'bob', epoch: 1, base: commit(1), commit: commit(7), files: 1, added: 1, removed: 0 };
  const merged = { onto: commit(1), merged: commit('b') };
  team.as('@user', 'task.complete', { taskId: '2', work: { ...work, paths: ['b'], ...merged } });
}

function complete(team: Stage, n: number): ReturnType<Stage['as']> {
  const { work } = team.view(String(n));
  const {
    memberId = '',
    epoch = 1,
    base = '',
    commit: handed = '',
    files = 0,
    added = 0,
    removed = 0,
    paths = [],
  } = work ?? {};
  const merged = { onto: team.state.team?.work?.tip ?? '', merged: commit('a'), landingId: `l${n}` };
  const handedIn = { memberId, epoch, base, commit: handed, files, added, removed, paths, ...merged };
  return team.as(memberId, 'task.complete', { taskId: String(n), work: handedIn });
}

describe('work that a person has to approve', () => {
  test.each([
    ['always', { approve: 'always' } as const, ['a'], true],
    ['never', { approve: 'never' } as const, ['a'], false],
    ['by default', {}, ['a'], false],
    ['in a folder', { approve: { paths: ['db/**'] } }, ['src/a.ts', 'db/one/1.sql'], true],
    ['in no such folder', { approve: { paths: ['db/**'] } }, ['src/db.ts'], false],
    ['by its ending', { approve: { paths: ['**/*.sql'] } }, ['src/a.ts', 'b/c.sql'], true],
    ['by another ending', { approve: { paths: ['**/*.sql'] } }, ['src/a.ts'], false],
  ])('%s', (_how, settings, paths, isAsked) => {
    const team = teamApart(settings);
    accept(team, 1, { paths, files: paths.length });
    const next = isAsked ? () => complete(team, 1) : () => ask(team, 1);
    expect(next).toThrow(isAsked ? /has to be approved/ : /needs no approval/);
  });

  test('is asked about if not all of its paths are known', () => {
    const team = teamApart({ approve: { paths: ['db/**'] } });
    accept(team, 1, { files: 300 });
    expect(types(ask(team, 1))).toEqual(['work:asked', 'request:raised']);
  });

  test('leaves the queue and ends its landing, so that it holds up nobody', () => {
    const team = teamApart({ approve: 'always' });
    accept(team, 1);
    ask(team, 1);
    expect(team.state.team?.work).toMatchObject({ queue: [], tip: commit(1) });
    expect(team.state.team?.work?.landing).toBeUndefined();
    expect(team.view('1')).toMatchObject({ status: 'in_progress', work: { state: 'asked', completer: 'ann' } });
    expect(pending(team)).toMatchObject([
      {
        kind: 'work',
        memberId: 'ann',
        taskId: '1',
        detail: { commit: commit(2), files: 1, added: 2, removed: 1 },
      },
    ]);
  });

  test('lands as it was judged if the branch has not moved', () => {
    const team = teamApart({ approve: 'always' });
    accept(team, 1);
    ask(team, 1);
    const [request] = pending(team);
    const events = team.as('@user', 'request.answer', { requestId: request?.id ?? '', approve: true });
    expect(types(events)).toEqual(['request:answered', 'work:landed', 'task:completed']);
    expect(team.state.team?.work?.tip).toBe(commit('a'));
    expect(team.view('1')).toMatchObject({ status: 'completed', result: 'it is done', work: { state: 'landed' } });
  });

  test('takes its place in the queue again if the branch has moved, and is not asked about again', () => {
    const team = teamApart({ approve: 'always' });
    accept(team, 1);
    ask(team, 1);
    moveTip(team);
    const [request] = pending(team);
    const events = team.as('@user', 'request.answer', { requestId: request?.id ?? '', approve: true });
    expect(types(events)).toEqual(['request:answered', 'work:approved']);
    expect(team.view('1')).toMatchObject({ work: { state: 'submitted', approved: commit(2), place: 1 } });
    const works = [{ taskId: '1', epoch: 1, commit: commit(2) }];
    const landing = { landingId: 'l1', hostId: 'h1', onto: commit('b'), merged: commit('a'), works };
    team.as('@system', 'landing.begin', landing);
    expect(types(complete(team, 1))).toContain('work:landed');
  });

  test('goes back to its holder with all comments as one text, and has its tries again', () => {
    const team = teamApart({ approve: 'always' });
    for (let i = 0; i < 6; i++) {
      accept(team, 1);
      ask(team, 1);
      const [request] = pending(team);
      const comments = [
        { path: 'src/a.ts', line: 12, text: 'too long' },
        { path: 'src/a.ts', line: 3, side: 'old' as const, text: 'why gone?' },
      ];
      const answer = { requestId: request?.id ?? '', approve: false, feedback: 'Almost.', comments };
      expect(types(team.as('@user', 'request.answer', answer))).toEqual(['request:answered', 'task:rejected']);
    }
    expect(team.view('1')).toMatchObject({
      status: 'in_progress',
      assigneeId: 'ann',
      rejections: 1,
      feedback:
        'A person reviewed commit 2222222 and sends it back.\nAlmost.\n\nsrc/a.ts:12: too long\nsrc/a.ts:3 (removed): why gone?',
      work: { state: 'begun' },
    });
    expect(pending(team)).toEqual([]);
  });

  test('refuses a verdict about another commit, and withdraws the question when another is handed in', () => {
    const team = teamApart({ approve: 'always' });
    accept(team, 1);
    ask(team, 1);
    const [request] = pending(team);
    const answer = { requestId: request?.id ?? '', approve: true, commit: commit(9) };
    expect(() => team.as('@user', 'request.answer', answer)).toThrow(/is 2222222 now, not 9999999/);
    const size = { files: 1, added: 1, removed: 0, paths: ['a'] };
    const other = { taskId: '1', memberId: 'ann', epoch: 1, base: commit(1), commit: commit(9), ...size };
    team.as('ann', 'work.submit', other);
    expect(pending(team)).toEqual([]);
    expect(team.state.requests.get(request?.id ?? '')?.status).toBe('withdrawn');
    expect(team.state.team?.work?.queue).toEqual(['1']);
  });

  test('stays asked about if the same is handed in again, or its holder stops', () => {
    const team = teamApart({ approve: 'always' });
    accept(team, 1);
    ask(team, 1);
    const size = { files: 1, added: 2, removed: 1, paths: ['src/a.ts'] };
    const same = { taskId: '1', memberId: 'ann', epoch: 1, base: commit(1), commit: commit(2), ...size };
    expect(team.as('ann', 'work.submit', same)).toEqual([]);
    team.as('@user', 'member.leave', { memberId: 'ann' });
    expect(pending(team)).toHaveLength(1);
    const [request] = pending(team);
    const events = team.as('@user', 'request.answer', { requestId: request?.id ?? '', approve: false });
    expect(types(events)).toEqual(['request:answered', 'task:rejected', 'task:released']);
  });

  test('lands with the pack of the merged commit, if work travels', () => {
    const team = teamApart({ approve: 'always' });
    accept(team, 1);
    const mergedPack = { commit: commit(4), hash: 'a'.repeat(64), size: 500 };
    ask(team, 1, { mergedPack });
    const events = team.as('@user', 'work.review', { taskId: '1', commit: commit(2), approve: true });
    expect(events[1]).toMatchObject({ type: 'work:landed', pack: mergedPack, landingId: 'l1' });
  });

  test('is asked about only if a gate accepted what its model refused', () => {
    const team = teamApart({ approve: 'always' });
    accept(team, 1, { refused: true });
    expect(() => ask(team, 1)).toThrow('The model refused task 1');
    expect(types(ask(team, 1, { accepted: true }))).toEqual(['work:asked', 'request:raised']);
  });

  test('is not asked about in a journal from elsewhere that asks about work that does not wait', () => {
    const team = teamApart({ review: 'eyes' });
    accept(team, 1);
    ask(team, 1);
    const [request] = pending(team);
    // The work of bob is in the queue, and that of cyd is not handed in.
    const size = { files: 1, added: 2, removed: 1, paths: ['src/b.ts'] };
    const queued = { taskId: '2', memberId: 'bob', epoch: 1, base: commit(1), commit: commit(3), ...size };
    team.as('bob', 'work.submit', queued);
    team.do('member.join', { name: 'cyd', agent: EXEC });
    team.task();
    team.as('cyd', 'task.claim', { taskId: '3' });
    const raised = { type: 'request:raised', at: 1, by: '@system', memberId: 'eyes', content: 'x' } as const;
    const other = [
      { taskId: undefined },
      { taskId: '2', detail: { commit: commit(3) } },
      { taskId: '3', detail: { commit: commit(4) } },
      { taskId: '1', detail: { commit: commit(9) } },
    ];
    for (const [i, about] of other.entries()) {
      evolve(team.state, { ...raised, requestId: `w${i}`, kind: 'review', ...about });
      const answered = team.as('@user', 'request.answer', { requestId: `w${i}`, approve: true });
      expect(types(answered)).toEqual(['request:answered']);
      evolve(team.state, { ...raised, requestId: `r${i}`, kind: 'review', ...about });
    }
    // A person is asked about the one that waits.
    expect(types(team.as('@user', 'member.leave', { memberId: 'eyes' }))).toEqual([
      'teammate:stopped',
      'request:raised',
    ]);
    expect(pending(team)).toMatchObject([{ kind: 'work', taskId: '1', detail: request?.detail }]);
  });

  test('fails its task if nobody answers in time', () => {
    const team = teamApart({ approve: 'always' });
    accept(team, 1);
    ask(team, 1);
    const [request] = pending(team);
    const events = team.as('@system', 'request.answer', { requestId: request?.id ?? '', approve: false });
    expect(types(events)).toEqual(['request:answered', 'work:withdrawn', 'task:failed']);
  });

  test('bounds what a holder reads', () => {
    const team = teamApart({ approve: 'always' });
    accept(team, 1);
    ask(team, 1);
    const comments = Array.from({ length: 100 }, (_, i) => ({ path: 'a', line: i + 1, text: 'x'.repeat(4_000) }));
    team.as('@user', 'work.review', { taskId: '1', commit: '2222222', approve: false, comments });
    const { feedback = '' } = team.view('1');
    expect(feedback.length).toBeLessThan(34_000);
    expect(feedback).toMatch(/\(92 more comments do not fit\.\)$/);
  });
});

describe('a member as the reviewer', () => {
  test('is asked by mail, with the commit and how to look at it', () => {
    const team = teamApart({ review: 'eyes' });
    accept(team, 1);
    expect(types(ask(team, 1))).toEqual(['work:asked', 'request:raised', 'message:sent']);
    expect(pending(team)).toMatchObject([{ kind: 'review', memberId: 'eyes', detail: { holder: 'ann' } }]);
    const [mail] = [...team.state.messages.values()];
    expect(mail).toMatchObject({ toId: 'eyes', type: 'system', priority: 'normal', metadata: { taskId: '1' } });
    expect(mail?.fromId).toBe('@system');
    expect(mail?.content).toContain(`commit "${commit(2)}"`);
    expect(mail?.content).toContain('WorkDiff');
    expect(mail?.content).toContain(': 1 file, +2 -1, commit 2222222. The gates accept it.\nIts result: it is done\n');
  });

  test('lands the work with its yes, about this commit alone', () => {
    const team = teamApart({ review: 'eyes' });
    accept(team, 1);
    ask(team, 1);
    const verdict = { taskId: '1', commit: commit(2), approve: true };
    expect(() => team.as('eyes', 'work.review', { ...verdict, commit: commit(9) })).toThrow(/look at it again/);
    expect(() => team.as('bob', 'work.review', verdict)).toThrow(/only eyes or a person may/);
    expect(types(team.as('eyes', 'work.review', verdict))).toEqual([
      'request:answered',
      'work:landed',
      'task:completed',
    ]);
    expect(() => team.as('eyes', 'work.review', verdict)).toThrow(/does not wait for a review/);
  });

  test('sends it back; after five times a person decides', () => {
    const team = teamApart({ review: 'eyes' });
    for (let i = 0; i < 5; i++) {
      accept(team, 1);
      ask(team, 1);
      team.as('eyes', 'work.review', { taskId: '1', commit: commit(2), approve: false, summary: 'no' });
    }
    expect(team.view('1')).toMatchObject({ rejections: 5, assigneeId: 'ann' });
    expect(pending(team)).toMatchObject([{ kind: 'gate', taskId: '1' }]);
  });

  test('comes before the person that has to approve it, too', () => {
    const team = teamApart({ review: 'eyes', approve: 'always' });
    accept(team, 1);
    ask(team, 1);
    const verdict = { taskId: '1', commit: commit(2), approve: true, summary: 'good' };
    expect(types(team.as('eyes', 'work.review', verdict))).toEqual(['request:answered', 'request:raised']);
    expect(pending(team)).toMatchObject([
      { kind: 'work', content: expect.stringContaining('eyes reviewed it and approves: good') },
    ]);
    expect(() => team.as('eyes', 'work.review', verdict)).toThrow(/only a person may/);
    expect(types(team.as('@user', 'work.review', verdict))).toContain('work:landed');
  });

  test('is replaced by a person if it wrote the work, is not there, stops, or does not answer in time', () => {
    const own = teamApart({ review: 'ann' });
    accept(own, 1);
    ask(own, 1);
    expect(pending(own)).toMatchObject([
      { kind: 'work', content: expect.stringContaining('does not review its own work') },
    ]);

    const absent = teamApart({ review: 'nobody' });
    accept(absent, 1);
    ask(absent, 1);
    expect(pending(absent)).toMatchObject([{ kind: 'work', content: expect.stringContaining('is not there') }]);

    const stopped = teamApart({ review: 'eyes' });
    accept(stopped, 1);
    ask(stopped, 1);
    stopped.as('@user', 'member.leave', { memberId: 'eyes' });
    expect(pending(stopped)).toMatchObject([{ kind: 'work', content: expect.stringContaining('eyes stopped') }]);

    const returning = teamApart({ review: 'eyes' });
    accept(returning, 1);
    ask(returning, 1);
    returning.as('@system', 'member.leave', { memberId: 'eyes', returning: true });
    expect(pending(returning)).toMatchObject([{ kind: 'review', memberId: 'eyes' }]);

    const late = teamApart({ review: 'eyes' });
    accept(late, 1);
    ask(late, 1);
    const [request] = pending(late);
    late.as('@system', 'request.answer', { requestId: request?.id ?? '', approve: false });
    expect(pending(late)).toMatchObject([{ kind: 'work', content: expect.stringContaining('did not answer in time') }]);
    expect(late.view('1').status).toBe('in_progress');
  });
});

test('a long summary leaves room for the comments', () => {
  const text = reviewText('s'.repeat(REVIEW_BYTES), [{ path: 'a.ts', line: 7, text: 'here' }]) ?? '';
  expect(text).toMatch(/\na\.ts:7: here$/);
  expect(text.length).toBeLessThan(REVIEW_BYTES);
  expect(reviewText('all', [{ path: 'a.ts', line: 7, side: 'old', text: 'gone' }])).toBe(
    'all\n\na.ts:7 (removed): gone',
  );
  expect(reviewText(undefined, [{ path: 'a.ts', line: 7, text: 'here' }])).toBe('a.ts:7: here');
  expect(reviewText('alone')).toBe('alone');
});

test('a person approves what changes certain files, or so much that not all of it is named', () => {
  const approve = { paths: ['secret/**'] };
  const paths = Array.from({ length: PATHS_PER_WORK }, (_, at) => `plain/${at}`);
  expect(needsPerson({ approve }, { ...BARE, files: 2, paths: ['plain/1', 'secret/1'] })).toBe(true);
  expect(needsPerson({ approve }, { ...BARE, files: 1, paths: ['plain/1'] })).toBe(false);
  expect(needsPerson({ approve }, { ...BARE, files: 2, paths: ['plain/1'] })).toBe(true);
  expect(needsPerson({ approve }, { ...BARE, files: PATHS_PER_WORK, paths })).toBe(true);
  expect(needsPerson({ approve }, { ...BARE, files: paths.length - 1, paths: paths.slice(1) })).toBe(false);
});

const BARE = { memberId: 'ann', epoch: 1, base: commit(1), state: 'submitted' } as const;

test('a member that stops leaves what another reviewer is asked about', () => {
  const team = teamApart({ review: 'eyes' });
  accept(team, 1);
  ask(team, 1);
  team.as('@user', 'member.leave', { memberId: 'bob' });
  expect(pending(team)).toMatchObject([{ kind: 'review', memberId: 'eyes' }]);
});
