import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findUserHome } from '../../src/agents/user-home.ts';
import { fold } from '../../src/cli/show/text.ts';
import { views } from '../../src/cli/show/views/all.ts';
import { commit } from '../samples/work.ts';

const screen = { isTerminal: true, hasColor: false, columns: 100, now: Date.parse('2026-01-01T00:00:01Z') };
const SIZE = { files: 0, added: 0, removed: 0 };

const WORK = {
  workspaces: 'own',
  repository: '/project',
  branch: 'troupe/shop',
  base: commit(1),
  tip: commit(2),
  files: 1,
  added: 1,
  removed: 0,
} as const;

function showWork(more: object, on = screen): string {
  return views['work.show']?.({ ...WORK, ...more }, on, { teamId: 'shop' }) ?? '';
}

test('the work of a team names the merge only as long as the checkout lacks it', () => {
  expect(showWork({ isMerged: false })).toContain('To bring the branch into your checkout: troupe merge --team shop\n');
  expect(showWork({ isMerged: true })).not.toContain('troupe merge');
});

test('a task that was begun and released is not in work; one about which a person decides was not sent back', () => {
  const task = { title: 'Sleeps', memberId: 'max', epoch: 1, base: commit(1), state: 'begun' } as const;
  const tasks = [
    { ...task, taskId: '1', isHeld: true },
    { ...task, taskId: '2', isHeld: false },
    { ...task, taskId: '3', isHeld: true, queuedAt: 1 },
    { ...task, taskId: '4', isHeld: true, queuedAt: 1, isAsked: true },
  ];
  const shown = showWork({ tasks });
  expect(shown).toMatch(/^#1 +in work +Sleeps +max$/m);
  expect(shown).toMatch(/^#2 +not in work +Sleeps +max$/m);
  expect(shown).toMatch(/^#3 +sent back +Sleeps +max$/m);
  expect(shown).toMatch(/^#4 +waits for you +Sleeps +max$/m);
});

test('folders are told apart by their ends', () => {
  const root = join(findUserHome(process.env), '.local/state/troupe/workspaces/of/some/long/path/shop');
  const members = ['ann', 'bob'].map((memberId, slot) => ({
    memberId,
    folder: join(root, memberId),
    slot,
    base: commit(1),
    behind: 0,
    ...SIZE,
    size: 2_000,
  }));
  const wide = showWork({ members }, { ...screen, columns: 140 });
  expect(wide).toContain('~/.local/state/troupe/workspaces/of/some/long/path/shop/ann\n');
  const narrow = showWork({ members }, { ...screen, columns: 70 });
  expect(narrow).toMatch(/ …\/\S*path\/shop\/ann\n.* …\/\S*path\/shop\/bob\n/);
  expect(showWork({ members }, { ...screen, isTerminal: false, columns: Infinity })).toContain(` ${root}/ann\n`);
});

test('what was left behind says how long it is kept, and its command stays whole', () => {
  const at = '2026-01-01T00:00:00.000Z';
  const ref = `refs/kept/shop/ann/${commit(3)}`;
  const left = [
    { id: commit(1), kind: 'trash', of: 'shop/ann', at, goesAt: '2026-01-15T00:00:00.000Z', size: 9, path: '/t' },
    { id: commit(2), kind: 'kept', of: 'shop/ann', at, goesAt: '2026-01-31T00:00:00.000Z', path: '/depot', ref },
    { id: commit(3), kind: 'branch', of: 'shop', at, path: '/depot', ref },
  ] as const;
  const shown = fold(views['work.leftovers']?.([...left], screen, {}) ?? '', screen);
  expect(shown).toMatch(/ KEPT\n.* for 14 days\n.* for 30 days\n.* until you remove it\n/);
  expect(shown).toContain(
    `To look at such work, in your repository:\n  git fetch /depot ${ref} && git log -p FETCH_HEAD\n`,
  );
});

test('files that several members change are a table by members, those that conflict first', () => {
  const side = (memberId: string, taskId: string) => ({ memberId, taskId, epoch: 1 });
  const [ann, bob, cid] = [side('ann', '3'), side('bob', '4'), side('cid', '11')];
  const overlaps = [
    { sides: [ann, cid], files: 1, paths: ['src/a.ts'], conflicts: [] },
    { sides: [ann, bob], files: 60, paths: ['src/a.ts', 'src/b\u001b[31m.ts'], conflicts: ['src/b\u001b[31m.ts'] },
  ];
  const lines = showWork({ overlaps }).split('\n');
  const at = lines.findIndex((line) => line.startsWith('CHANGED BY SEVERAL'));
  expect(lines[at]).toMatch(/^CHANGED BY SEVERAL +ann #3 +bob #4 +cid #11$/);
  expect(lines[at + 1]).toMatch(/^src\/b.*\.ts +conflicts +conflicts$/);
  expect(lines[at + 2]).toMatch(/^src\/a\.ts +changed +changed +changed$/);
  expect(lines[at + 3]).toBe('and 58 more');
  expect(lines.join('\n')).not.toContain('\u001b');
  expect(showWork({ overlaps: [] })).not.toContain('CHANGED BY SEVERAL');
  const narrow = showWork({ overlaps }, { ...screen, columns: 44 }).split('\n');
  for (const line of narrow.filter((one) => one.includes('src/'))) expect(line.length).toBeLessThanOrEqual(44);
});

test('the merge queue says what lands now, what waits, and why the last landing brought nothing', () => {
  const entry = (taskId: string, more: object) => ({
    taskId,
    title: `Task ${taskId}`,
    memberId: 'ann',
    epoch: 1,
    commit: commit(3),
    place: Number(taskId),
    since: screen.now - 61_000,
    files: 1,
    added: 2,
    removed: 0,
    isLanding: false,
    hasLeft: false,
    ...more,
  });
  const entries = [
    entry('1', { isLanding: true }),
    entry('2', { isLanding: true }),
    entry('3', { alone: 'judging' }),
    entry('4', { alone: 'green', hasLeft: true }),
    entry('5', {}),
  ];
  const ended = {
    how: 'split',
    why: 'rejected together: the halves follow',
    tasks: ['1', '2', '3'],
    at: screen.now - 9_000,
  };
  const back = { title: 'Back', memberId: 'bob', at: screen.now, conflicts: [] };
  const sentBack = [
    { ...back, taskId: '6', why: 'npm test fails\u001b[2J' },
    { ...back, taskId: '7', why: 'It conflicts', conflicts: ['src/a.ts'] },
  ];
  const wide = { ...screen, columns: 140 };
  const shown = showWork({ queue: { entries, asked: [], landingSince: screen.now - 30_000, ended, sentBack } }, wide);
  expect(shown).toMatch(/^ +1 +#1 +Task 1 +ann +1 file \(\+2 -0\) +1 min ago +is judged with #2, began 30 s ago$/m);
  expect(shown).toMatch(/^ +3 +#3 .* waits, is judged alone$/m);
  expect(shown).toMatch(/^ +4 +#4 +Task 4 +ann \(stopped\) .* waits, passed alone$/m);
  expect(shown).toMatch(/^ +5 +#5 .* waits$/m);
  expect(shown).toContain(
    'The last landing (#1, #2, #3) was rejected together and is halved, 9 s ago: rejected together',
  );
  expect(shown).toContain('#6 went back to bob: npm test fails');
  expect(shown).toContain('#7 went back to bob: it conflicts in src/a.ts\n');
  expect(shown).not.toContain('\u001b');
  const narrow = showWork({ queue: { entries, asked: [], sentBack: [] } }, { ...screen, columns: 44 });
  for (const line of narrow.split('\n').filter((one) => /#\d/.test(one))) expect(line.length).toBeLessThanOrEqual(44);
  const red = { ...ended, how: 'red', tasks: ['6'] };
  expect(showWork({ queue: { entries: [], asked: [], ended: red, sentBack } })).not.toContain('The last landing');
  expect(showWork({ queue: { entries: [], asked: [], sentBack: [] } })).not.toContain('QUEUE');
  const one = { title: 'Sleeps', memberId: 'max', commit: commit(3), files: 1, added: 2, removed: 0 };
  const asked = [
    { ...one, taskId: '7', since: screen.now - 60_000 },
    { ...one, taskId: '8', reviewerId: 'eyes', since: screen.now },
  ];
  const waiting = showWork({ queue: { entries: [], asked, sentBack: [] } }, wide);
  expect(waiting).toMatch(/^#7 +Sleeps +max +1 file \(\+2 -0\) .*waits for a person to approve it$/m);
  expect(waiting).toMatch(/^#8 +Sleeps +max +1 file \(\+2 -0\) .*waits for the review of eyes$/m);
  expect(waiting).toContain('To look at it and answer: troupe approve\n');
});

test('a task whose work waits to land says so, and is not said to be completed', () => {
  const work = {
    memberId: 'ann',
    epoch: 1,
    base: commit(1),
    state: 'submitted',
    place: 2,
    queuedAt: screen.now,
  } as const;
  const task = {
    id: '3',
    teamId: 'shop',
    title: 'Parser',
    status: 'in_progress',
    priority: 'medium',
    rejections: 0,
    dependencies: [],
    blockedBy: [],
    blocks: [],
    assigneeId: 'ann',
    updatedAt: '2026-01-01T00:00:00Z',
    work: { ...work, files: 1, added: 2, removed: 0 },
  };
  const list = views['task.list']?.([task] as never, screen, {}) ?? '';
  expect(list).toMatch(/^#3 +◕ in queue 2 +Parser/m);
  const now = { ...task, work: { ...task.work, isLanding: true } };
  expect(views['task.list']?.([now] as never, screen, {})).toMatch(/^#3 +◕ landing +Parser/m);
  const shown = views['task.show']?.(task as never, screen, {}) ?? '';
  expect(shown).toContain('waits to land, place 2: 1 file (+2 -0), handed in just now');
  expect(views['task.complete']?.(task as never, screen, {})).toBe(
    'Task #3 is handed in: waits to land, place 2: Parser\n',
  );
});
