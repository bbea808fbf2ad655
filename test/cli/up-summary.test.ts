import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/cli/commands/up/follow.ts';
import { picture } from '../../src/cli/commands/up/progress.ts';
import type { Standing } from '../../src/cli/commands/up/standing.ts';
import { summarize } from '../../src/cli/commands/up/summary.ts';
import { behindNotice, workspacesLine } from '../../src/cli/commands/up/workspaces.ts';
import type { Screen } from '../../src/cli/show/screen.ts';

const SCREEN: Screen = { isTerminal: false, hasColor: false, columns: Infinity, now: 0 };

test.each([
  [4_230, 'Ended in 4.2 s.'],
  [59_900, 'Ended in 59.9 s.'],
  [616_500, 'Ended in 10 min.'],
  [3 * 3_600_000, 'Ended in 3 h.'],
])('the summary of troupe up shows %i ms in a readable unit', (duration, text) => {
  const outcome: Outcome = { team: 'crew', reason: 'done', tasks: [], members: [], requests: [], earlier: 0, duration };
  expect(summarize(outcome, SCREEN, { goesOn: true })).toContain(text);
});

test.each([
  [false, true, 'The team is closed. To go on, write the answer into the prompt: of the lead, then troupe up --again.'],
  [false, false, 'The team is closed. To go on, run it again with the answer in the goal.'],
  [true, true, 'To answer: troupe send boss "…" --team crew.'],
])('the summary repeats what the lead asked at its end (open: %s)', (open, goesOn, next) => {
  const members = [{ id: 'boss', role: 'lead' }] as unknown as Outcome['members'];
  const none = { tasks: [], requests: [], earlier: 0, duration: 1 };
  const outcome: Outcome = { team: 'crew', reason: 'done', members, open, answer: 'x', question: 'Which?', ...none };
  expect(summarize(outcome, SCREEN, { goesOn })).toContain(`The lead asked a question: Which? ${next}`);
});

test.each([
  [{}, ''],
  [{ remote: { name: 'origin' }, roots: ['a'.repeat(40)] }, '; work travels by origin'],
  [{ remote: { name: 'origin' } }, '; work.remote has no effect, because no other machine shares the journal'],
])('the line about workspaces says how work travels', (more, text) => {
  const about = { workspaces: 'own', repository: '/project', prefix: '', branch: 'troupe/crew' } as const;
  const work = { ...about, base: 'b'.repeat(40), tip: 'b'.repeat(40), ...more };
  const line = workspacesLine({ work }, {}, {});
  expect(line).toBe(`Workspaces: each member has its own, from bbbbbbb of /project${text}\n`);
});

test.each([
  [undefined, ''],
  [
    { commits: 1, isOnTop: true },
    'has 1 commit that troupe/crew lacks, so the members do not see it. To take it in: troupe work take HEAD --team crew',
  ],
  [{ commits: 2, isOnTop: false }, 'To take them in: troupe merge --team crew, then troupe work take HEAD --team crew'],
])('a standing team whose branch lacks commits of the checkout is told of (%o)', (ahead, text) => {
  const work = { workspaces: 'own' as const, branch: 'troupe/crew', uncommitted: [], ...(ahead && { ahead }) };
  const notice = behindNotice({ team: 'crew', work });
  expect(notice).toContain(text);
  expect(notice === '').toBe(ahead === undefined);
});

const ASKED = {
  teamId: 'crew',
  requestedBy: 'ann',
  requestedAt: '2026-01-01T00:00:00.000Z',
  status: 'pending',
} as const;

test.each([
  [
    [{ ...ASKED, id: 'restart-1@ann', kind: 'restart' as const, memberId: 'ann', content: 'x' }],
    'A person is needed: the restart of ann. The team stays open: answer with troupe approve ann --team crew, then',
  ],
  [
    [{ ...ASKED, id: 'q@ann', kind: 'question' as const, memberId: 'ann', content: 'x', question: {} }],
    'the question of ann. The team stays open: answer with troupe answer ann --team crew "…", then',
  ],
  [
    [
      { ...ASKED, id: 'plan@ann', kind: 'plan' as const, memberId: 'ann', content: 'x' },
      { ...ASKED, id: 'b', kind: 'budget' as const, memberId: 'bo', content: 'x', detail: { of: 'team' } },
    ],
    'the plan of ann, the budget of the team. The team stays open: answer what troupe approve --team crew lists, then',
  ],
])('the summary says who waits for a person, and the command that answers', (requests, text) => {
  const outcome = { team: 'crew', reason: 'person', tasks: [], members: [], requests, earlier: 0, duration: 1 };
  expect(summarize(outcome as unknown as Outcome, SCREEN, { goesOn: true })).toContain(text);
});

test('a task in progress shows how long it was worked on, as troupe watch does: a wait for an answer is left out', () => {
  const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();
  const task = { id: '1', title: 'Write', status: 'in_progress', assigneeId: 'ann', startedAt: at(0), rejections: 0 };
  const plan = { ...ASKED, id: 'plan@ann', kind: 'plan', memberId: 'ann', requestedAt: at(2), content: 'x' };
  const requests = [plan];
  const standing = { tasks: [task], members: [], requests, toPerson: [plan], asked: requests, troubles: [] };
  const screen = { ...SCREEN, columns: 80, now: 60_000 };
  expect(picture('crew', standing as unknown as Standing, screen, 24)).toContain('◐   #1 Write  ann  2 s');
});

test('a plan that the lead answers waits for a person only if nobody goes on', () => {
  const plan = { ...ASKED, id: 'plan@ann', kind: 'plan', memberId: 'ann', content: 'x' };
  const requests = [plan];
  const standing = { tasks: [], members: [], requests, toPerson: [], asked: requests, troubles: [] };
  const shown = (more: object): string =>
    picture('crew', { ...standing, ...more } as unknown as Standing, { ...SCREEN, columns: 80 }, 24).join('\n');
  expect(shown({})).not.toContain('waits for you');
  expect(shown({ reason: 'person' })).toContain('! plan waits for you (troupe approve ann): x');
  expect(shown({ toPerson: requests })).toContain('! plan waits for you (troupe approve ann): x');
});

describe('the summary of a team that cannot go on', () => {
  const member = (id: string, more: object = {}) => ({ id, agent: { kind: 'exec' }, status: 'idle', ...more });
  const task = (id: string, more: object = {}) => ({ id, title: 'x', status: 'pending', ...more });

  test.each([
    [
      'names the members that stopped, once per reason',
      [
        member('ann', { status: 'stopped', stopReason: 'the daemon was stopped' }),
        member('bo', { status: 'stopped', stopReason: 'the daemon was stopped' }),
        member('cy', { metadata: { failure: 'exited with code 3' } }),
      ],
      [task('1')],
      'No member can do the remaining tasks: ann, bo stopped: the daemon was stopped; cy failed: exited with code 3.',
    ],
    [
      'names failed tasks, and not those that wait for them',
      [member('ann')],
      [task('1', { status: 'failed' }), task('2', { status: 'blocked', blockedReason: 'waits for task 1 (failed)' })],
      'No member can do the remaining tasks: task #1 failed.',
    ],
    [
      'says what tasks wait for',
      [member('ann')],
      [task('1', { status: 'blocked', blockedReason: 'waits for the hooks that judge new tasks' })],
      'No member can do the remaining tasks: task #1 waits for the hooks that judge new tasks.',
    ],
    [
      'says for whom tasks are reserved',
      [member('ann')],
      [task('1', { assigneeId: 'gone' })],
      'No member can do the remaining tasks: task #1 is reserved for gone.',
    ],
    ['has a reason in any case', [member('ann')], [task('1')], 'remaining tasks: all members are idle.'],
    [
      'says that the lead failed, if all tasks are completed',
      [member('boss', { metadata: { failure: 'no money.' } })],
      [task('1', { status: 'completed' })],
      'The lead gave no answer: boss failed: no money.',
    ],
    ['says that it has no agents', [], [task('1')], 'No member can do the remaining tasks: no member has an agent.'],
  ])('%s', (_name, members, tasks, text) => {
    const outcome = { team: 'crew', reason: 'stuck', tasks, members, requests: [], earlier: 0, duration: 1 };
    expect(summarize(outcome as unknown as Outcome, SCREEN, { goesOn: true })).toContain(text);
  });
});

test.each([
  [2, 2, 'All tasks were already completed.'],
  [1, 1, '1 of 2 tasks completed, none in this run.'],
  [2, 1, '2 of 2 tasks completed, 1 in this run, in 1.0 s.'],
])('the summary counts what this run completed: %i done, %i before', (done, earlier, text) => {
  const tasks = [1, 2].map((id) => ({ id: String(id), title: 'x', status: id <= done ? 'completed' : 'pending' }));
  const outcome = { team: 'crew', reason: 'done', tasks, members: [], requests: [], earlier, duration: 1_000 };
  expect(summarize(outcome as unknown as Outcome, SCREEN, { goesOn: true })).toContain(text);
});

test('the summary ends with what landed, what did not, and how to merge it', () => {
  const id = (digit: string): string => digit.repeat(40);
  const work = {
    workspaces: 'own',
    branch: 'troupe/crew',
    base: id('1'),
    tip: id('2'),
    files: 2,
    added: 12,
    removed: 1,
    tasks: [{ taskId: '4', state: 'conflicted' }],
    queue: { entries: [{ taskId: '5' }], sentBack: [{ taskId: '6' }, { taskId: '4' }] },
  } as unknown as NonNullable<Outcome['work']>;
  const changes = [
    { path: 'src/a.ts', status: 'modified', added: 12, removed: 1 },
    { path: 'logo.png', status: 'added' },
  ] as const;
  const none = { tasks: [], requests: [], members: [], earlier: 0, duration: 1 };
  const outcome: Outcome = { team: 'crew', reason: 'done', ...none, work, changes: [...changes] };
  const shown = summarize(outcome, SCREEN, { goesOn: true });
  expect(shown).toContain(
    [
      'Landed on troupe/crew: 2 files (+12 -1), 1111111..2222222',
      '  +12 -1  src/a.ts',
      '  binary  logo.png',
      'Not on the branch, because it conflicts: the work of #4. It is kept: troupe work --team crew',
      'Not on the branch, because it was sent back: the work of #6',
      'Not on the branch, but in the merge queue: the work of #5. It lands while the daemon runs',
      'See it: troupe diff --team crew',
      'Bring it into your checkout: troupe merge --team crew',
    ].join('\n'),
  );
  const nothing = { ...work, tip: work.base } as typeof work;
  expect(summarize({ ...outcome, work: nothing }, SCREEN, { goesOn: true })).toContain(
    'Nothing landed on troupe/crew.',
  );
});
