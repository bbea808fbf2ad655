import { describe, expect, test } from 'vitest';
import { describeLimit } from '../../src/core/account-words.ts';
import { composeNotices, NoticeMessage, noticesOf, stillHolds } from '../../src/core/notice.ts';
import type { Notice } from '../../src/core/notice.ts';
import { QuietHours, quietMinutes } from '../../src/core/quiet-hours.ts';
import { RaisedKind } from '../../src/core/request.ts';
import { createState } from '../../src/core/state.ts';
import { STANDS_STILL } from '../../src/core/waiting.ts';
import { WORK } from '../samples/work.ts';
import { Stage, teamOf } from './stage.ts';

const agent = { kind: 'exec' as const, command: ['true'] };

function only(team: Stage): Notice {
  const found = noticesOf(team.state);
  expect(found).toHaveLength(1);
  return found[0] as Notice;
}

/** The budget of ann is used up. */
function spend(team: Stage): void {
  team.as('@user', 'member.change', { memberId: 'ann', budget: { turns: 1 } });
  team.do('usage.record', { memberId: 'ann', usage: { turns: 1 } });
}

describe('a notice', () => {
  test('comes of every request that only a person answers, until it is answered', () => {
    for (const kind of RaisedKind.options) {
      const team = teamOf('ann');
      if (kind === 'restart') team.as('@system', 'member.leave', { memberId: 'ann', reason: 'crashed' });
      // Troupe asks about a budget only if one is used up.
      if (kind === 'budget') spend(team);
      const detail = { of: 'member', what: 'turns' };
      team.as('@system', 'request.raise', { kind, memberId: 'ann', content: 'Which\nrunner?', detail });
      const notice = only(team);
      const kinds: Record<string, string> = { budget: 'budget', hang: 'hung', restart: 'failed' };
      expect(notice.kind).toBe(kinds[kind] ?? 'person');
      expect(notice).toMatchObject({ memberId: 'ann', text: expect.stringContaining('(ann): Which') as string });
      expect(notice.text).not.toContain('\n');
      expect(stillHolds(notice, team.state)).toBe(true);
      team.as('@user', 'request.answer', { requestId: notice.requestId ?? '', approve: false, feedback: 'No' });
      expect(stillHolds(notice, team.state)).toBe(false);
      expect(noticesOf(team.state)).toEqual([]);
    }
  });

  test('names the way to a member of a team inside others', () => {
    const team = new Stage();
    const parent = { teamId: 'beta-rev-1', memberId: 'sub', taskId: '1', around: 'beta/rev' };
    team.as('@user', 'team.create', { name: 'alpha', parent });
    team.join('ann', 'bob');
    team.as('@system', 'request.raise', { kind: 'permission', memberId: 'ann', content: 'May I?' });
    team.as('bob', 'member.change', { memberId: 'bob', metadata: { waiting: { reason: 'quiet', silentSince: 1 } } });
    expect(noticesOf(team.state).map(({ text }) => text)).toEqual([
      expect.stringContaining('(beta/rev › sub › ann): May I?'),
      'A turn is silent (beta/rev › sub › bob): quiet',
    ]);
  });

  test('warns when 80 % of a window of an account are used, until less of it is, or its limit is reached', () => {
    const team = teamOf('ann');
    team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
    const use = (used: number) =>
      team.as('ann', 'account.report', { memberId: 'ann', windows: [{ name: 'five_hour', used, resetsAt: team.now }] });
    use(0.79);
    expect(noticesOf(team.state)).toEqual([]);
    use(0.81);
    const warning = only(team);
    expect(warning).toMatchObject({
      kind: 'limited',
      text: expect.stringContaining('claude has used five_hour 81 %') as string,
    });
    use(0.95);
    expect(only(team)).toMatchObject({ subject: warning.subject, version: warning.version });
    expect(stillHolds(warning, team.state)).toBe(true);
    team.as('ann', 'account.report', { memberId: 'ann', cause: 'limited', reason: 'used up' });
    expect(only(team).subject).toBe('account claude');
    expect(stillHolds(warning, team.state)).toBe(false);
    team.as('@system', 'account.set', { account: 'claude', limit: null });
    use(0.1);
    expect(noticesOf(team.state)).toEqual([]);
  });

  test('says that a turn is silent, until it is heard of again or a person is asked', () => {
    const team = teamOf('ann');
    const say = (waiting: { reason: string; silentSince: number } | null) =>
      team.as('ann', 'member.change', { memberId: 'ann', metadata: { waiting } });
    say({ reason: 'nothing heard for 15 minutes (1 process)', silentSince: 1_000 });
    const notice = only(team);
    expect(notice).toMatchObject({
      kind: 'hung',
      memberId: 'ann',
      text: expect.stringContaining('(ann): nothing heard') as string,
    });
    // The same silence in other words is no news; the next one is.
    say({ reason: 'nothing heard for 18 minutes (1 process)', silentSince: 1_000 });
    expect(only(team)).toMatchObject({ subject: notice.subject, version: notice.version });
    expect(stillHolds(notice, team.state)).toBe(true);
    team.as('@system', 'request.raise', { kind: 'hang', memberId: 'ann', content: 'End it?' });
    expect(only(team).requestId).toBeDefined();
    expect(stillHolds(notice, team.state)).toBe(false);
    say(null);
    team.as('@user', 'request.answer', { requestId: only(team).requestId ?? '', approve: true });
    expect(noticesOf(team.state)).toEqual([]);
    say({ reason: 'nothing heard for 15 minutes (1 process)', silentSince: 2_000 });
    expect(only(team).version).not.toBe(notice.version);
    expect(stillHolds(notice, team.state)).toBe(false);
  });

  test('says that a process stands still, also without a turn', () => {
    const team = teamOf('ann');
    const waiting = { reason: STANDS_STILL, silentSince: 1_000 };
    team.as('@system', 'member.change', { memberId: 'ann', metadata: { waiting } });
    expect(only(team)).toMatchObject({
      kind: 'hung',
      text: 'The process of ann gives no sign of life. If that lasts, Troupe restarts it.',
    });
  });

  test('says that all tasks are completed, once for each time', () => {
    const team = teamOf('ann');
    expect(noticesOf(team.state)).toEqual([]);
    team.task({ title: 'Test it' });
    team.as('ann', 'task.claim', { taskId: '1' });
    expect(noticesOf(team.state)).toEqual([]);
    team.as('ann', 'task.complete', { taskId: '1' });
    const first = only(team);
    expect(first).toMatchObject({ kind: 'done', text: 'The team is done: 1 task completed.' });
    team.task({ title: 'Ship it' });
    expect(stillHolds(first, team.state)).toBe(false);
    team.as('ann', 'task.claim', { taskId: '2' });
    team.as('ann', 'task.complete', { taskId: '2' });
    expect(only(team)).toMatchObject({ subject: first.subject, text: 'The team is done: 2 tasks completed.' });
    expect(only(team).version).not.toBe(first.version);
    // It is often closed right after that.
    const last = only(team);
    team.as('@user', 'team.close', { force: true });
    expect(noticesOf(team.state)).toEqual([]);
    expect(stillHolds(last, team.state)).toBe(true);
  });

  test('of a request that is gone, or of a team that goes on, does not hold', () => {
    const team = teamOf('ann');
    team.task({ title: 'Test it' });
    team.as('ann', 'task.claim', { taskId: '1' });
    team.as('ann', 'task.complete', { taskId: '1' });
    const notice = only(team);
    expect(stillHolds({ ...notice, requestId: 'gone' }, team.state)).toBe(false);
    expect(stillHolds(notice, team.state)).toBe(true);
    expect(noticesOf(createState('alpha'))).toEqual([]);
    // An agent without a lead may still be at work.
    team.do('member.join', { name: 'bob', agent });
    team.as('bob', 'member.change', { memberId: 'bob', status: 'active' });
    expect(stillHolds(notice, team.state)).toBe(true);
  });

  test("of silence names members that should run, but not those that wait for a person's answer", () => {
    const team = teamOf('ann', 'bob');
    const waiting = { reason: 'nothing heard', silentSince: 1_000 };
    for (const name of ['ann', 'bob']) team.as(name, 'member.change', { memberId: name, metadata: { waiting } });
    const about = () =>
      noticesOf(team.state).map(({ kind, memberId, requestId }) => [kind, memberId, requestId !== undefined]);
    expect(about()).toEqual([
      ['hung', 'ann', false],
      ['hung', 'bob', false],
    ]);
    team.as('@system', 'request.raise', { kind: 'hang', memberId: 'ann', content: 'End it?' });
    expect(about()).toEqual([
      ['hung', 'ann', true],
      ['hung', 'bob', false],
    ]);
    team.as('@system', 'member.leave', { memberId: 'bob', reason: 'done' });
    expect(about()).toEqual([['hung', 'ann', true]]);
  });

  test('warns of an account until all of a window is used', () => {
    const team = teamOf('ann');
    team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
    const windows = (used: number) =>
      team.as('@system', 'account.set', { account: 'claude', windows: [{ name: 'week', used }] });
    for (const [used, count] of [
      [0.79, 0],
      [0.8, 1],
      [0.99, 1],
      [1, 0],
    ] as const) {
      windows(used);
      expect(noticesOf(team.state), `${used}`).toHaveLength(count);
    }
  });

  test('of a failure does not count tasks that cannot go on if there are none, and waits for limited members', () => {
    const team = teamOf();
    for (const name of ['ann', 'bob']) team.do('member.join', { name, agent });
    team.task({ title: 'Test it' });
    team.as('ann', 'task.claim', { taskId: '1' });
    team.as('ann', 'task.fail', { taskId: '1', reason: 'no runner' });
    for (const name of ['ann', 'bob']) team.as(name, 'member.change', { memberId: name, status: 'idle' });
    expect(only(team).text).toBe('Nobody can go on: 1 task failed, 0 completed. Task 1, Test it: no runner');
    const limit = { cause: 'overloaded', reason: 'busy', since: 1, until: 2, known: false, tries: 1 } as const;
    team.as('@system', 'account.set', { account: 'claude', limit });
    team.as('@system', 'member.change', { memberId: 'ann', account: 'claude' });
    expect(noticesOf(team.state)).toEqual([]);
    team.as('@system', 'account.set', { account: 'claude', limit: null });
    expect(only(team).kind).toBe('failed');
    // They come back, or a person stopped them: then nobody has to be told.
    for (const returning of [true, false]) {
      for (const memberId of ['ann', 'bob']) {
        if (returning) team.as('@system', 'member.leave', { memberId, reason: 'down', returning });
        else team.as('@system', 'member.leave', { memberId, reason: 'stopped' });
      }
      expect(noticesOf(team.state)).toEqual([]);
    }
  });

  test('does not say that a team is done while a member of it asks its user', () => {
    const team = teamOf('ann');
    team.task({ title: 'Test it' });
    team.as('ann', 'task.claim', { taskId: '1' });
    team.as('ann', 'task.complete', { taskId: '1' });
    team.as('ann', 'request.raise', { kind: 'question', memberId: 'ann', content: 'Ship it?' });
    expect(only(team).kind).toBe('person');
  });

  test('says that a team with a lead is done when the lead has nothing more to do', () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', leadAgent: agent });
    const lead = (status: 'active' | 'idle', more: object = {}) =>
      team.as('@system', 'member.change', { memberId: 'lead', status, ...more });
    team.join('ann');
    team.task();
    team.as('ann', 'task.claim', { taskId: '1' });
    lead('active');
    team.as('ann', 'task.complete', { taskId: '1' });
    expect(noticesOf(team.state)).toEqual([]);
    lead('idle');
    const notice = only(team);
    expect(notice.kind).toBe('done');
    expect(stillHolds(notice, team.state)).toBe(true);
    // A limited account matters only if the lead itself uses it.
    const limit = { cause: 'limited' as const, reason: 'used up', since: 1, until: 2, known: true, tries: 1 };
    team.as('@system', 'account.set', { account: 'claude', limit });
    team.as('@system', 'member.change', { memberId: 'ann', account: 'claude' });
    expect(noticesOf(team.state).map(({ kind }) => kind)).toEqual(['limited', 'done']);
    team.as('@system', 'member.change', { memberId: 'lead', account: 'claude' });
    expect(noticesOf(team.state).map(({ kind }) => kind)).toEqual(['limited']);
    // It goes on with what it hears.
    lead('active');
    expect(stillHolds(notice, team.state)).toBe(false);
  });

  test('says that a plan waits, unless an agent leads', () => {
    for (const [leadAgentType, kinds] of [
      ['person', ['person']],
      ['none', ['person']],
      ['claude', []],
    ] as const) {
      const team = new Stage();
      team.as('@user', 'team.create', { name: 'alpha', leadAgentType });
      team.as('@user', 'member.join', { name: 'ann', planApprovalRequired: true });
      team.as('ann', 'plan.submit', { content: 'First the parser' });
      expect(noticesOf(team.state).map(({ kind }) => kind)).toEqual(kinds);
    }
  });

  test('says that the plan of a lead waits: nobody judges its own', () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', leadAgentType: 'claude' });
    team.as('lead', 'plan.submit', { content: 'First the parser' });
    expect(noticesOf(team.state).map(({ kind }) => kind)).toEqual(['person']);
  });

  test('says that a task failed when nobody can go on, and not before', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann', agent });
    team.task({ title: 'Test it' });
    team.task({ title: 'Ship it', dependencies: ['1'] });
    team.as('ann', 'task.claim', { taskId: '1' });
    team.as('ann', 'member.change', { memberId: 'ann', status: 'active' });
    team.as('ann', 'task.fail', { taskId: '1', reason: 'no runner' });
    expect(noticesOf(team.state)).toEqual([]);
    team.as('ann', 'member.change', { memberId: 'ann', status: 'idle' });
    const notice = only(team);
    expect(notice).toMatchObject({ kind: 'failed', taskId: '1' });
    expect(notice.text).toContain('1 task cannot go on. Task 1, Test it: no runner');
    team.as('ann', 'member.change', { memberId: 'ann', status: 'active' });
    expect(noticesOf(team.state)).toEqual([]);
  });

  test('says that an account reached its limit, not that its servers are busy', () => {
    const team = teamOf('ann');
    team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
    team.as('ann', 'account.report', { memberId: 'ann', cause: 'overloaded', reason: 'busy', pauseMs: 500 });
    expect(noticesOf(team.state)).toEqual([]);
    team.as('ann', 'account.report', {
      memberId: 'ann',
      cause: 'limited',
      reason: 'used up',
      resetsAt: team.now + 9e6,
    });
    const notice = only(team);
    expect(notice.kind).toBe('limited');
    expect(notice.text).toMatch(/^Its account is limited until .* \(claude\): used up$/);
    team.as('@user', 'account.set', { account: 'claude', limit: null });
    expect(stillHolds(notice, team.state)).toBe(false);
  });
});

describe('a message', () => {
  const notice = (index: number, more: Partial<Notice> = {}): Notice => ({
    kind: 'done',
    subject: `s${index}`,
    version: '',
    text: `text ${index}`,
    ...more,
  });

  test('links the queue if something waits for an answer, else the team', () => {
    const at = 'http://127.0.0.1:4000';
    expect(composeNotices('alpha', [notice(1)], at)).toEqual({
      team: 'alpha',
      title: 'Troupe: team alpha',
      text: 'text 1',
      link: 'http://127.0.0.1:4000/t/alpha',
      notices: [{ kind: 'done', text: 'text 1' }],
    });
    expect(composeNotices('alpha', [notice(1), notice(2, { requestId: 'r' })], at)).toMatchObject({
      title: 'Troupe: team alpha, 2 notices',
      link: 'http://127.0.0.1:4000/queue',
    });
    expect(composeNotices('alpha', [notice(1)], undefined)).not.toHaveProperty('link');
  });

  test('has of each notice what clients need to show and to answer it, and nothing else', () => {
    const asking = notice(1, { kind: 'person', requestId: 'r1', revision: 'v1', memberId: 'ann', taskId: '7' });
    const message = composeNotices('alpha', [asking], 'http://127.0.0.1:4000', () => 'http://127.0.0.1:4000/a/1');
    expect(message).toStrictEqual({
      team: 'alpha',
      title: 'Troupe: team alpha',
      text: 'text 1\nAnswer: http://127.0.0.1:4000/a/1',
      link: 'http://127.0.0.1:4000/queue',
      notices: [
        {
          kind: 'person',
          text: 'text 1',
          requestId: 'r1',
          memberId: 'ann',
          taskId: '7',
          answer: 'http://127.0.0.1:4000/a/1',
        },
      ],
    });
    expect(NoticeMessage.parse(message)).toStrictEqual(message);
  });

  test('lists ten notices and counts the others', () => {
    const many = Array.from({ length: 13 }, (_one, index) => notice(index));
    const { text } = composeNotices('alpha', many, undefined);
    expect(composeNotices('alpha', many.slice(0, 10), undefined).text).toMatch(/text 8\ntext 9$/);
    expect(text.split('\n')).toHaveLength(11);
    expect(text).toMatch(/text 9\nand 3 more$/);
  });
});

test('quiet hours may go past midnight', () => {
  const at = (hour: number, minute = 0) => hour * 60 + minute;
  expect(quietMinutes('22:00-07:00', at(21, 59))).toBe(0);
  expect(quietMinutes('22:00-07:00', at(22))).toBe(9 * 60);
  expect(quietMinutes('22:00-07:00', at(0))).toBe(7 * 60);
  expect(quietMinutes('22:00-07:00', at(6, 59))).toBe(1);
  expect(quietMinutes('22:00-07:00', at(7))).toBe(0);
  expect(quietMinutes('12:30-13:00', at(12, 45))).toBe(15);
  expect(quietMinutes('12:30-13:00', at(3))).toBe(0);
  for (const wrong of ['22-7', '24:00-07:00', '07:00-07:00', '22:00']) {
    expect(QuietHours.safeParse(wrong).success).toBe(false);
  }
});

describe('the text of a notice', () => {
  test('names the task of a request, and of an agent that is silent for no known reason the agent', () => {
    const team = teamOf('ann');
    team.task();
    team.claimNext('ann');
    team.as('ann', 'request.raise', { kind: 'permission', memberId: 'ann', taskId: '1', content: 'May I?' });
    expect(only(team)).toMatchObject({ text: 'Permission needed (ann, task 1): May I?', taskId: '1' });
    team.as('ann', 'member.change', { memberId: 'ann', metadata: { waiting: { silentSince: 1 } } });
    expect(noticesOf(team.state)[1]).toMatchObject({ kind: 'hung', text: 'A turn is silent (ann): ' });
  });

  test('is not about accounts that nobody uses, and has no time that nobody knows', () => {
    const team = teamOf('ann');
    team.as('@system', 'account.set', { account: 'claude', windows: [{ name: 'week', used: 0.9 }] });
    expect(noticesOf(team.state)).toEqual([]);
    team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
    expect(only(team).text).toBe('Its account claude has used week 90 %.');
  });

  test('says what cannot go on after a failure', () => {
    const team = teamOf('ann');
    team.task({ title: 'First' });
    team.task({ dependencies: ['1'] });
    team.as('ann', 'task.claim', { taskId: '1' });
    team.as('ann', 'task.fail', { taskId: '1', reason: 'no\ndisk' });
    expect(only(team)).toMatchObject({
      kind: 'failed',
      taskId: '1',
      text: 'Nobody can go on: 1 task failed, 0 completed. 1 task cannot go on. Task 1, First: no disk',
    });
    const record = team.state.tasks.get('1');
    if (record) team.state.tasks.set('1', { ...record, failure: undefined });
    expect(only(team).text).toMatch(/Task 1, First: no reason given$/);
  });

  test('says that a lead without tasks is done when it has answered, and nobody of the team is busy', () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', leadAgent: agent, leadAgentType: 'exec', work: WORK });
    team.as('lead', 'member.change', { memberId: 'lead', status: 'idle' });
    expect(noticesOf(team.state)).toEqual([]);
    team.as('lead', 'member.change', { memberId: 'lead', status: 'active' });
    team.as('lead', 'member.change', { memberId: 'lead', status: 'idle', result: 'Hello' });
    expect(only(team)).toMatchObject({ kind: 'done', text: 'The team is done.' });
    team.do('member.join', { name: 'ann', agent });
    team.as('@system', 'member.leave', { memberId: 'ann', returning: true });
    expect(noticesOf(team.state)).toEqual([]);
    team.do('member.leave', { memberId: 'ann' });
    expect(only(team).kind).toBe('done');
  });

  test('has a link by which it is answered', () => {
    const notice = { kind: 'person', subject: 's', version: '', text: 'Which?', requestId: 'r1' } as const;
    const message = composeNotices('alpha', [notice, { ...notice, requestId: 'r2' }], undefined, ({ requestId }) =>
      requestId === 'r1' ? 'https://a.example/r1' : undefined,
    );
    expect(message).toMatchObject({
      text: 'Which?\nAnswer: https://a.example/r1\nWhich?',
      notices: [{ requestId: 'r1', answer: 'https://a.example/r1' }, { requestId: 'r2' }],
    });
    expect(message.notices[1]).not.toHaveProperty('answer');
  });

  test('does not tell of a failure while other work is about to land', () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', work: WORK });
    team.do('member.join', { name: 'ann', agent });
    team.as('ann', 'member.change', { memberId: 'ann', status: 'idle' });
    const failed = team.task();
    team.as('@user', 'task.fail', { taskId: failed, reason: 'no' });
    expect(only(team).kind).toBe('failed');
    const { work } = team.state.team ?? {};
    if (team.state.team && work) team.state.team = { ...team.state.team, work: { ...work, queue: ['9'] } };
    expect(noticesOf(team.state)).toEqual([]);
  });
});

describe('what a notice has', () => {
  test('is exactly what its kind needs', () => {
    const team = teamOf('ann');
    team.task({ title: 'Test it' });
    const ask = (input: object) => {
      team.as('ann', 'request.raise', { kind: 'permission', memberId: 'ann', content: 'May I?', ...input });
      return [...team.state.requests.values()].at(-1);
    };
    const plain = ask({});
    const about = ask({ taskId: '1' });
    const common = { kind: 'person', version: '', memberId: 'ann' } as const;
    expect(noticesOf(team.state)).toStrictEqual([
      {
        ...common,
        subject: `request ${plain?.id}`,
        text: 'Permission needed (ann): May I?',
        requestId: plain?.id,
        revision: plain?.revision,
      },
      {
        ...common,
        subject: `request ${about?.id}`,
        text: 'Permission needed (ann, task 1): May I?',
        requestId: about?.id,
        revision: about?.revision,
        taskId: '1',
      },
    ]);
    expect(plain?.revision).toBeDefined();
    // Work is looked at before somebody answers, so no link does.
    const asks = (kind: 'work' | 'review') => {
      if (about) team.state.requests.set(about.id, { ...about, kind });
      return noticesOf(team.state)[1];
    };
    expect(asks('work')).toMatchObject({ text: expect.stringContaining('Work waits for your approval') as string });
    expect(asks('work')).not.toHaveProperty('revision');
  });

  test('of an account is when its limit began, and of a window when that begins again', () => {
    const team = teamOf('ann', 'bob');
    team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
    const limit = { cause: 'limited', reason: 'used up', since: 5, until: 7, known: true, tries: 1 } as const;
    team.as('@system', 'account.set', { account: 'claude', limit, windows: [{ name: 'week', used: 1 }] });
    expect(noticesOf(team.state)).toStrictEqual([
      {
        kind: 'limited',
        subject: 'account claude',
        version: '5',
        text: `Its account is ${describeLimit(limit, 'claude')}: used up`,
      },
    ]);
    team.as('@system', 'account.set', { account: 'claude', limit: null });
    const resetsAt = new Date(2026, 0, 2, 3, 10).getTime();
    team.as('@system', 'account.set', { account: 'claude', windows: [{ name: 'day', used: 0.85, resetsAt }] });
    expect(noticesOf(team.state)).toStrictEqual([
      {
        kind: 'limited',
        subject: 'use of claude day',
        version: '',
        text: 'Its account claude has used day 85 %; it begins again at 03:10.',
      },
    ]);
    // Nobody who uses it is there.
    team.do('member.leave', { memberId: 'ann' });
    expect(noticesOf(team.state)).toEqual([]);
  });

  test('of an end holds until somebody works again', () => {
    const team = teamOf('ann');
    team.task();
    team.claimNext('ann');
    team.as('ann', 'task.complete', { taskId: '1' });
    const done = only(team);
    expect(done).toStrictEqual({
      kind: 'done',
      subject: 'end',
      version: 'done 1',
      text: 'The team is done: 1 task completed.',
    });
    team.task({ title: 'Ship it' });
    team.task({ dependencies: ['2'] });
    expect(stillHolds(done, team.state)).toBe(false);
    team.claimNext('ann');
    team.do('task.delete', { taskId: '3' });
    // None is pending, but one is in progress.
    expect(stillHolds(done, team.state)).toBe(false);
    team.task({ dependencies: ['2'] });
    team.as('ann', 'task.fail', { taskId: '2', reason: 'no disk' });
    const failed = only(team);
    expect(failed).toStrictEqual({
      kind: 'failed',
      subject: 'end',
      version: `failed 2 ${team.now}`,
      text: 'Nobody can go on: 1 task failed, 1 completed. 1 task cannot go on. Task 2, Ship it: no disk',
      taskId: '2',
    });
    expect([stillHolds(failed, team.state), stillHolds(done, team.state)]).toEqual([true, false]);
    team.task();
    team.claimNext('ann');
    expect(stillHolds(failed, team.state)).toBe(false);
  });
});
