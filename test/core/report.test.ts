import { expect, test } from 'vitest';
import { escapeMarkdown, reportEnd, reportMarkdown, reportText } from '../../src/cli/show/report.ts';
import { evolve } from '../../src/core/evolve.ts';
import { innerReportOf } from '../../src/core/inner-report.ts';
import type { InnerReport } from '../../src/core/inner-report.ts';
import type { TeamParent } from '../../src/core/inner.ts';
import { reportOf, TeamReport } from '../../src/core/report.ts';
import type { ResultOf } from '../../src/operations/index.ts';
import { commit, WORK } from '../samples/work.ts';
import { Stage, teamOf } from './stage.ts';

const screen = { isTerminal: false, hasColor: false, columns: 100, now: 0 };

/** The report as clients get it. */
function seen(team: Stage, inner?: InnerReport[]): ResultOf<'team.report'> {
  const sent = JSON.parse(JSON.stringify(reportOf(team.state, Date.now(), inner))) as ResultOf<'team.report'>;
  TeamReport.parse(sent);
  return sent;
}

function busyTeam({ title = 'Write the parser', failure = 'no runner' } = {}): Stage {
  const team = teamOf('ann', 'bob');
  for (const one of [title, 'Test it', 'Ship it']) team.task({ title: one });
  team.as('ann', 'task.claim', { taskId: '1' });
  team.as('ann', 'usage.record', {
    memberId: 'ann',
    taskId: '1',
    usage: { inputTokens: 1_000, outputTokens: 234, turns: 2, costUsd: 1.5 },
  });
  team.as('ann', 'task.complete', { taskId: '1', result: 'It parses' });
  team.as('bob', 'task.claim', { taskId: '2' });
  team.as('bob', 'task.fail', { taskId: '2', reason: failure });
  team.as('bob', 'request.raise', { kind: 'question', memberId: 'bob', content: 'Which runner?' });
  return team;
}

test('says what was done, by whom, for how much, what went wrong and what waits', () => {
  const report = seen(busyTeam());
  expect(report).toMatchObject({
    team: 'alpha',
    tasks: { completed: 1, failed: 1, open: 1 },
    done: [{ id: '1', by: 'ann', landed: false, usage: { costUsd: 1.5 }, result: 'It parses' }],
    usage: { inputTokens: 1_000, turns: 2, costUsd: 1.5 },
    wrong: [{ what: 'failed', taskId: '2', memberId: 'bob', text: 'Test it: no runner' }],
    waits: [
      { what: 'request', kind: 'question', memberId: 'bob', text: 'Which runner?' },
      { what: 'open', taskId: '3', text: 'Ship it' },
    ],
  });
  const text = reportText(report, screen);
  expect(text).toContain('Team alpha (active): 1 of 3 tasks completed, 1 failed, 1 open.\n');
  expect(text).toMatch(/Done\n {2}#1 Write the parser \(ann, .*\$1\.50, 1,234 tokens, 2 turns\)\n/);
  expect(text).toContain('Who and what it cost: $1.50, 1,234 tokens, 2 turns\n');
  expect(text).toContain('Went wrong\n  failed (#2 bob): Test it: no runner\n');
  expect(text).toContain('Waits\n  question waits for you (bob): Which runner?\n');
});

test('is of tasks that are there, and has no field without a value', () => {
  const team = teamOf('ann', 'bob');
  for (const title of ['Gone', 'Done', 'Free']) team.task({ title });
  team.as('ann', 'task.claim', { taskId: '1' });
  team.as('@system', 'task.reject', { taskId: '1', feedback: 'no' });
  team.do('task.delete', { taskId: '1' });
  team.as('bob', 'task.claim', { taskId: '2' });
  team.as('bob', 'task.complete', { taskId: '2' });
  // A lead that is no agent answers for itself.
  team.do('member.change', { memberId: 'lead', status: 'idle', result: 'Fine' });
  team.as('bob', 'request.raise', { kind: 'permission', memberId: 'bob', content: 'May I?' });
  const report = reportOf(team.state, team.now);
  expect(report).toStrictEqual(JSON.parse(JSON.stringify(report), revive(report)));
  expect(report).toMatchObject({
    wrong: [],
    improved: [],
    waits: [{ what: 'request' }, { what: 'open', taskId: '3' }],
  });
  expect(report).not.toHaveProperty('answer');
  expect(reportOf(teamOf().state, 0)).not.toHaveProperty('endedAt');
  team.as('@user', 'task.complete', { taskId: '3' });
  expect(reportOf(team.state, team.now).done.map((task) => Object.hasOwn(task, 'by'))).toEqual([true, false]);
  expect(report.members.map(({ id, completed, failed }) => [id, completed, failed])).toEqual([
    ['lead', 0, 0],
    ['ann', 0, 0],
    ['bob', 1, 0],
  ]);
  const busy = reportOf(busyTeam().state, Date.now());
  expect(busy.members.map(({ id, completed, failed }) => [id, completed, failed])).toEqual([
    ['lead', 0, 0],
    ['ann', 1, 0],
    ['bob', 0, 1],
  ]);
  expect(busy).toStrictEqual(JSON.parse(JSON.stringify(busy), revive(busy)));
});

/** Makes dates of texts again that are dates in the original. */
function revive({ createdAt, endedAt }: { createdAt: Date; endedAt?: Date | undefined }) {
  const dates = new Map([createdAt, endedAt].flatMap((date) => (date ? [[date.toISOString(), date]] : [])));
  return (_key: string, value: unknown) => dates.get(value as string) ?? value;
}

test('waits for its lead and for people, not for a member that is asked to shut down', () => {
  const team = teamOf('ann');
  team.do('shutdown.request', { memberId: 'ann' });
  expect(seen(team).waits).toEqual([]);
  team.as('ann', 'plan.submit', { content: 'A plan' });
  expect(seen(team).waits).toMatchObject([{ what: 'request', kind: 'plan' }]);
});

test('calls a member stopped that was given up after crashes, and no other', () => {
  const team = teamOf('ann', 'bob', 'cyd');
  team.as('@system', 'member.leave', { memberId: 'ann', reason: 'crashed too often' });
  team.as('@system', 'member.leave', { memberId: 'bob', reason: 'crashed', returning: true });
  team.as('@system', 'member.leave', { memberId: 'cyd', reason: 'nothing left to do' });
  expect(seen(team).wrong.map(({ what, memberId }) => [what, memberId])).toEqual([
    ['stopped', 'ann'],
    ['crashed', 'bob'],
  ]);
});

test('names what a task waits for, one after the other, and limits of a minute and longer', () => {
  const team = teamOf('ann');
  const ids = [team.task({ title: 'One' }), team.task({ title: 'Two' })];
  team.task({ title: 'Last', dependencies: ids });
  expect(seen(team).waits.at(-1)).toMatchObject({ what: 'blocked', text: 'Last (waits for 1, 2)' });
  const since = team.now;
  const limit = { cause: 'limited', reason: 'used up', since, until: since + 1, known: true, tries: 1 } as const;
  for (const [account, ms] of [
    ['claude', 60_000],
    ['codex', 59_999],
  ] as const) {
    team.as('@system', 'account.set', { account, limit: { ...limit, since: team.now + 2_000 - ms } });
    team.as('@system', 'account.set', { account, limit: null });
  }
  expect(seen(team).wrong).toMatchObject([{ what: 'limited', text: expect.stringContaining('claude') as string }]);
});

test('says what the user answered: plans, and questions with the answer', () => {
  const team = busyTeam();
  const submit = (content: string): string => {
    const [plan] = team.as('ann', 'plan.submit', { content });
    return plan?.type === 'plan:submitted' ? plan.requestId : '';
  };
  team.as('@user', 'plan.reject', { requestId: submit('Rewrite it\nin C'), feedback: 'keep the API' });
  team.as('@user', 'plan.approve', { requestId: submit('Patch it') });
  team.do('plan.approve', { requestId: submit('Only the lead sees this') });
  const question = [...team.state.requests.values()].find(({ kind }) => kind === 'question');
  team.as('@user', 'request.answer', { requestId: question?.id ?? '', approve: true, feedback: 'the small one' });
  const report = seen(team);
  expect(report.answered).toMatchObject([
    { what: 'answered', kind: 'question', memberId: 'bob', text: 'Which runner? You answered: the small one' },
    { what: 'answered', kind: 'plan', memberId: 'ann', text: 'Rewrite it. You said no: keep the API' },
    { what: 'answered', kind: 'plan', memberId: 'ann', text: 'Patch it. You said yes.' },
  ]);
  expect(reportText(report, screen)).toContain(
    'You answered\n  question (bob): Which runner? You answered: the small one\n',
  );
});

test('says to which task an answer belongs, and what the user left to the member', () => {
  const team = busyTeam();
  const answer = (kind: 'permission' | 'question', approve: boolean) => {
    const [raised] = team.as('ann', 'request.raise', { kind, memberId: 'ann', taskId: '3', content: `A ${kind}?` });
    team.as('@user', 'request.answer', { requestId: (raised as { requestId: string }).requestId, approve });
  };
  answer('permission', true);
  answer('question', false);
  expect(seen(team).answered).toMatchObject([
    { kind: 'permission', taskId: '3', text: 'A permission? You said yes.' },
    { kind: 'question', taskId: '3', text: 'A question? You left it to the member.' },
  ]);
});

test('names trouble that a person has answered, and no questions', () => {
  const team = busyTeam();
  const ask = (kind: 'hang' | 'question') => {
    const [raised] = team.as('ann', 'request.raise', { kind, memberId: 'ann', content: `A ${kind}.\nMore` });
    const said = kind === 'question' ? { feedback: 'this one' } : {};
    const { requestId } = raised as { requestId: string };
    team.as('@user', 'request.answer', { requestId, approve: true, ...said });
  };
  ask('hang');
  ask('question');
  const { wrong } = seen(team);
  expect(wrong.slice(1)).toMatchObject([{ what: 'answered', kind: 'hang', text: 'A hang. You said yes.' }]);
  expect(reportText(seen(team), screen)).toContain('\n  hang needed you (ann): A hang. You said yes.\n');
});

test('names questions that nobody answered, with the choice that counted instead', () => {
  const team = teamOf('ann');
  const question = { choices: ['red', 'blue'], fallback: 'red' };
  team.as('ann', 'request.raise', { kind: 'question', memberId: 'ann', content: 'Which colour?', question });
  const [request] = team.state.requests.values();
  team.as('@system', 'request.answer', { requestId: request?.id ?? '', approve: false });
  expect(seen(team).wrong).toMatchObject([
    { what: 'unanswered', memberId: 'ann', text: 'Which colour? The default counted: red.' },
  ]);
});

test('names turns that were ended for silence without a question, also after the member crashed', () => {
  const team = busyTeam();
  for (const minutes of [15, 16]) {
    team.as('ann', 'member.change', { memberId: 'ann', interrupted: `nothing heard for ${minutes} minutes` });
  }
  team.as('@system', 'member.leave', { memberId: 'ann', reason: 'crashed', returning: true });
  team.join('ann');
  expect(seen(team).wrong.slice(1)).toMatchObject([
    { what: 'crashed', memberId: 'ann' },
    {
      what: 'interrupted',
      memberId: 'ann',
      text: 'a turn was ended and done again, 2 times. Last: nothing heard for 16 minutes',
    },
  ]);
  expect(reportText(seen(team), screen)).toContain('\n  interrupted (ann): a turn was ended and done again');
});

test('names accounts that cannot be used, and those that could not for a while', () => {
  const team = busyTeam();
  const limit = {
    cause: 'limited' as const,
    reason: 'used up',
    since: team.now,
    until: team.now + 3_600_000,
    known: true,
    tries: 1,
  };
  team.as('@system', 'account.set', { account: 'claude', limit });
  expect(seen(team).waits.filter(({ what }) => what === 'limited')).toEqual([]);
  team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
  expect(seen(team).waits).toContainEqual({
    what: 'limited',
    text: expect.stringMatching(/^the account is limited until \d\d:\d\d \(claude\): used up$/) as string,
  });
  team.pass(3_600_000);
  team.as('@system', 'account.set', { account: 'claude', limit: null });
  const { waits, wrong } = seen(team);
  expect(waits.filter(({ what }) => what === 'limited')).toEqual([]);
  expect(wrong.at(-1)).toMatchObject({
    what: 'limited',
    text: expect.stringMatching(
      /^the account claude was limited from \d\d:\d\d to \d\d:\d\d \(could not be used for 60 minutes\); nobody waited/,
    ) as string,
  });
});

test('lists every limit of the night, with the members that waited', () => {
  const team = busyTeam();
  team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
  const night = (minutes: number, waiting: object | null) => {
    const [since, until] = [team.now, team.now + minutes * 60_000];
    const limit = { cause: 'limited' as const, reason: 'used up', since, until, known: true, tries: 1 };
    team.as('@system', 'account.set', { account: 'claude', limit });
    team.as('ann', 'member.change', { memberId: 'ann', metadata: { waiting } });
    team.pass(minutes * 60_000);
    team.as('@system', 'account.set', { account: 'claude', limit: null });
    team.pass(3_600_000);
  };
  night(120, { reason: 'limited', account: 'claude', until: team.now });
  night(30, { reason: 'quiet hours' });
  night(45, { reason: 'limited', account: 'claude', until: team.now });
  const limits = seen(team).wrong.flatMap(({ what, text }) => (what === 'limited' ? [text] : []));
  expect(limits).toEqual([
    expect.stringMatching(/for 2 hours\); 1 member waited|for 120 minutes\); 1 member waited/),
    expect.stringMatching(/for 30 minutes\); nobody waited/),
    expect.stringMatching(/for 45 minutes\); 1 member waited/),
  ]);
});

test('does not call it wrong that a gate sent work back which was accepted later', () => {
  const team = teamOf('ann');
  for (const title of ['Write 1.2', 'Test it']) team.task({ title });
  team.as('ann', 'task.claim', { taskId: '1' });
  team.as('@system', 'task.reject', { taskId: '1', feedback: 'no heading.' });
  expect(seen(team)).toMatchObject({ wrong: [{ what: 'sent back', taskId: '1' }], improved: [] });
  team.as('ann', 'task.complete', { taskId: '1' });
  const report = seen(team);
  expect(report).toMatchObject({ wrong: [], improved: [{ what: 'sent back', taskId: '1', memberId: 'ann' }] });
  const said = '#1 ann: Write 1.2: sent back once. Last: no heading.\n';
  expect(reportText(report, screen)).toContain(`Accepted after another try\n  ${said}`);
  expect(reportText(report, screen)).not.toContain('Went wrong');
  expect(reportEnd({ ...report, improved: [] }, screen)).toBe('');
  expect(reportEnd(report, screen)).toBe(`\nAccepted after another try\n  ${said}`);
  expect(reportMarkdown(report)).toContain(`\n## Accepted after another try\n\n- ${said}`);
});

test('says what the teams inside of members did, also inside of those', () => {
  const inside = (parent: TeamParent, name: string): InnerReport => {
    const { state } = busyTeam();
    const { team } = state;
    if (!team) throw new Error('no team');
    return innerReportOf({ ...state, team: { ...team, name, parent } }) ?? expect.fail('no report');
  };
  expect(innerReportOf(busyTeam().state)).toBeUndefined();
  const report = seen(busyTeam(), [
    inside({ teamId: 'alpha', memberId: 'ann', taskId: '1' }, 'alpha-ann-1'),
    inside({ teamId: 'alpha-ann-1', memberId: 'bob', taskId: '2' }, 'alpha-ann-1-bob-2'),
  ]);
  const did = '1 of 3 tasks completed: Write the parser; Test it (failed); Ship it (pending)';
  const lines = [
    `#1 ann: team alpha-ann-1 (active), ${did}`,
    `#2 bob of alpha-ann-1: team alpha-ann-1-bob-2 (active), ${did}`,
  ];
  const wide = { ...screen, columns: 300 };
  expect(reportText(report, wide)).toContain(`Teams inside of members\n${lines.map((line) => `  ${line}\n`).join('')}`);
  expect(reportMarkdown(report)).toContain(`## Teams inside of members\n\n- ${lines.join('\n- ')}\n`);
});

test('says when the team ran, what landed, and whether that is merged', () => {
  const [base, tip] = ['1'.repeat(40), '2'.repeat(40)];
  const team = busyTeam();
  const plain = seen(team);
  const report: typeof plain = {
    ...plain,
    createdAt: '2026-11-18T14:09:38.172Z',
    endedAt: '2026-11-18T14:11:40.000Z',
    closedAt: '2026-11-19T08:00:00.000Z',
    done: plain.done.map((task) => ({ ...task, landed: true, commit: tip })),
    landed: { branch: 'troupe/alpha', base, tip, tasks: ['1'] },
  };
  // The last task is the one that failed.
  expect(plain.endedAt).toBe(team.state.tasks.get('2')?.completedAt?.toISOString());
  const text = reportText(report, screen);
  expect(text).toContain(
    '.\nBegan 2026-11-18 14:09:38 UTC, last task ended 2026-11-18 14:11:40 UTC (after 2 min), closed 2026-11-19 08:00:00 UTC\n',
  );
  const landed = '\nLanded on troupe/alpha, 1111111..2222222\n  #1 Write the parser (2222222)\n';
  expect(text).toContain(`${landed}\nWho`);
  const work = { workspaces: 'own', into: 'main', repository: '/project' } as const;
  expect(reportText(report, screen, { ...work, isMerged: true })).toContain(`${landed}  Merged: main has all of it.\n`);
  expect(reportText(report, screen, { ...work, isMerged: false })).toContain(
    `${landed}  Not merged into main yet: troupe merge --team alpha\n`,
  );
  expect(reportMarkdown(report, work)).toContain('\n- Not merged into main yet: troupe merge --team alpha\n');
  // The work of a team inside a member is not for the user to merge.
  const parent = { teamId: 'outer', memberId: 'rev', taskId: '7' };
  expect(reportText({ ...report, parent }, screen, work)).toContain(`${landed}  It goes into task #7 of team outer.\n`);
  const open = { ...plain, landed: { ...report.landed!, tip: base } };
  expect(reportText(open, screen)).not.toContain('Landed');
});

test('makes hostile titles harmless in text and in Markdown', () => {
  const title = '# [click](http://evil.example) <script>alert(1)</script> @everyone **x** `y` | z';
  const report = seen(busyTeam({ title, failure: '\u001b[2J\n## gone <b>' }));
  // oxlint-disable-next-line no-control-regex -- that is the point
  expect(reportText(report, screen)).not.toMatch(/\u001b/);
  const markdown = reportMarkdown(report);
  // oxlint-disable-next-line no-control-regex -- that is the point
  expect(markdown).not.toMatch(/\u001b|<|[^\\]\[click|http:\/\/|@everyone|[^\\]\*\*/);
  expect(markdown).toMatch(/^# Report of team alpha\n\nTeam alpha/);
  expect(markdown).toContain('\\[click\\]');
  const plain = 'It works (v1.2-rc+1), says Ann. Really!';
  expect(escapeMarkdown(plain)).toBe(plain);
  const begins = ['1. one', '- one', '# one', '> one', '+ one', '2) one'];
  expect(begins.map(escapeMarkdown)).toEqual(['1\\. one', '\\- one', '\\# one', '\\> one', '\\+ one', '2\\) one']);
  expect(escapeMarkdown('see www.evil.example')).toBe('see www&#46;evil.example');
});

test('says what a closed inner team with an agent as its lead did, down to the commit', () => {
  const team = new Stage();
  const agent = { kind: 'exec', command: ['true'] } as const;
  const parent = { teamId: 'outer', memberId: 'rev', taskId: '1' };
  team.as('@user', 'team.create', { name: 'alpha', leadAgent: agent, leadAgentType: 'exec', work: WORK, parent });
  team.do('member.join', { name: 'ann', agent });
  for (const title of ['Write', 'Drop']) team.task({ title });
  team.do('task.delete', { taskId: '2' });
  team.claimNext('ann');
  const size = { files: 1, added: 1, removed: 0, paths: ['a'] };
  const work = { memberId: 'ann', epoch: 1, base: commit(1), commit: commit(2), ...size };
  team.as('@user', 'task.complete', { taskId: '1', work: { ...work, onto: commit(1), merged: commit(3) } });
  team.as('lead', 'member.change', { memberId: 'lead', status: 'idle', result: 'All is written' });
  team.as('@user', 'team.close', { force: true });
  const report = seen(team);
  expect(report).toMatchObject({
    status: 'cleaned-up',
    closedAt: new Date(team.now).toISOString(),
    parent,
    tasks: { completed: 1, failed: 0, open: 0 },
    done: [{ id: '1', landed: true, commit: commit(3) }],
    landed: { branch: 'troupe/alpha', base: commit(1), tip: commit(3), tasks: ['1'] },
    answer: 'All is written',
  });
});

test('says why tasks wait, which members were given up, and what was refused or asked about a task', () => {
  const team = teamOf('ann', 'bob');
  team.task({ title: 'First' });
  team.task({ title: 'Second', dependencies: ['1'] });
  team.as('ann', 'task.claim', { taskId: '1' });
  const ask = (kind: 'hang' | 'permission') => {
    const [raised] = team.as('ann', 'request.raise', { kind, memberId: 'ann', taskId: '1', content: `A ${kind}` });
    return (raised as { requestId: string }).requestId;
  };
  team.as('@user', 'request.answer', { requestId: ask('hang'), approve: false });
  team.as('@system', 'request.answer', { requestId: ask('permission'), approve: false });
  const requestId = ask('permission');
  team.as('@system', 'member.leave', { memberId: 'bob', reason: 'crashed too often' });
  const { waits, wrong } = seen(team);
  expect(waits).toEqual([
    { what: 'request', kind: 'permission', requestId, memberId: 'ann', taskId: '1', text: 'A permission' },
    { what: 'open', taskId: '1', memberId: 'ann', text: 'First' },
    { what: 'blocked', taskId: '2', text: 'Second (waits for 1)' },
  ]);
  expect(wrong).toMatchObject([
    { what: 'stopped', memberId: 'bob', text: 'crashed too often' },
    { what: 'answered', kind: 'hang', taskId: '1', text: 'A hang You said no.' },
    { what: 'unanswered', kind: 'permission', taskId: '1', text: 'A permission' },
  ]);
});

test('has words where an event of another program left out a reason, and counts members that waited', () => {
  const team = teamOf('ann', 'bob', 'cyd');
  for (const name of ['ann', 'bob', 'cyd']) {
    team.as(name, 'member.change', { memberId: name, account: 'claude', metadata: { waiting: { account: 'claude' } } });
  }
  const limit = {
    cause: 'limited',
    reason: 'used up',
    since: team.now,
    until: team.now + 1,
    known: true,
    tries: 1,
  } as const;
  team.as('@system', 'account.set', { account: 'claude', limit });
  team.pass(60_000);
  team.as('@system', 'account.set', { account: 'claude', limit: null });
  team.task({ title: 'Write' });
  team.claimNext('ann');
  const record = team.state.tasks.get('1');
  if (record) team.state.tasks.set('1', { ...record, rejections: 2 });
  expect(seen(team).wrong).toMatchObject([
    { what: 'sent back', taskId: '1', text: 'Write: sent back 2 times.' },
    { what: 'limited', text: expect.stringContaining('; 3 members waited with a turn') as string },
  ]);
  const failed = { type: 'task:failed', at: team.now, by: 'ann', taskId: '1', memberId: 'ann' } as const;
  evolve(team.state, { ...failed, reason: undefined as never });
  expect(seen(team).wrong[0]).toMatchObject({ what: 'failed', text: 'Write: no reason given' });
});

test('leaves out what nobody knows: who had a task, how long it took, about what a request was', () => {
  const team = teamOf('ann');
  for (const title of ['Drop', 'Fail', 'Send']) team.task({ title });
  team.as('@user', 'task.complete', { taskId: '1' });
  team.as('@user', 'task.fail', { taskId: '2', reason: 'no' });
  const record = team.state.tasks.get('3');
  if (record) team.state.tasks.set('3', { ...record, rejections: 1, feedback: 'again' });
  const requestIds: string[] = [];
  for (const by of ['@user', '@system']) {
    const [raised] = team.as('ann', 'request.raise', { kind: 'hang', memberId: 'ann', content: 'It hangs' });
    const { requestId } = raised as { requestId: string };
    team.as(by, 'request.answer', { requestId, approve: false });
    requestIds.push(requestId);
  }
  const { done, wrong, answered } = reportOf(team.state, team.now);
  expect(done).toStrictEqual([{ id: '1', title: 'Drop', landed: false }]);
  const hang = { kind: 'hang', memberId: 'ann' };
  expect(wrong).toStrictEqual([
    { what: 'failed', taskId: '2', text: 'Fail: no' },
    { what: 'sent back', taskId: '3', text: 'Send: sent back once. Last: again' },
    { what: 'answered', ...hang, requestId: requestIds[0], text: 'It hangs You said no.' },
    { what: 'unanswered', ...hang, requestId: requestIds[1], text: 'It hangs' },
  ]);
  expect(answered).toEqual([]);
});

test('says an answer with its choice and its words, and about which task it was', () => {
  const team = teamOf('ann');
  team.task();
  const ask = (input: object, answer: object) => {
    const [raised] = team.as('ann', 'request.raise', { kind: 'question', memberId: 'ann', content: 'Which', ...input });
    const { requestId } = raised as { requestId: string };
    team.as('@user', 'request.answer', { requestId, approve: true, ...answer });
    return requestId;
  };
  const question = { choices: ['red', 'blue'] };
  const ids = [
    ask({ question }, { choice: 'red', feedback: 'it is warm' }),
    ask({ taskId: '1', content: 'Which!' }, { approve: false, feedback: 'as you like' }),
    ask({ kind: 'permission', content: 'May I' }, { approve: false, feedback: '' }),
  ];
  const asked = { what: 'answered', kind: 'question', memberId: 'ann' };
  expect(reportOf(team.state, team.now).answered).toStrictEqual([
    { ...asked, requestId: ids[0], text: 'Which. You answered: red: it is warm' },
    { ...asked, requestId: ids[1], taskId: '1', text: 'Which! You left it to the member: as you like' },
    { ...asked, kind: 'permission', requestId: ids[2], text: 'May I. You said no.' },
  ]);
});
