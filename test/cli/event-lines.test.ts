import { expect, test } from 'vitest';
import { describeEvent, eventLines, noteTitles } from '../../src/cli/show/event-lines.ts';
import type { Screen } from '../../src/cli/show/screen.ts';
import type { TeamEvent } from '../../src/core/event.ts';

const titles = new Map([['2', 'Test it']]);

test.each<[Partial<TeamEvent> & { type: TeamEvent['type'] }, string]>([
  [{ type: 'task:unblocked', by: 'builder', taskId: '2' }, 'task #2 (Test it) is now ready'],
  [
    { type: 'task:dependencies-added', by: 'lead', taskId: '2', dependencies: ['1'] },
    'made task #2 (Test it) wait for #1',
  ],
  [
    { type: 'task:rejected', by: '@system', taskId: '2', feedback: 'no', gate: './gate.sh' },
    'the gate ./gate.sh sent task #2 (Test it) back: no',
  ],
  [
    {
      type: 'team:updated',
      by: '@system',
      metadata: { 'hookTrouble TaskCompleted ./a.sh': 'The hook "./a.sh" failed' },
    },
    'says: The hook "./a.sh" failed',
  ],
  [{ type: 'task:assigned', by: '@user', taskId: '2', assigneeId: null }, 'made task #2 (Test it) free for anybody'],
  [{ type: 'team:updated', by: '@user', metadata: { other: 'x' } }, 'changed the team'],
  [{ type: 'task:rejected', by: '@system', taskId: '2', feedback: 'no' }, 'a gate sent task #2 (Test it) back: no'],
  [{ type: 'task:rejected', by: '@user', taskId: '2', feedback: 'no' }, 'sent task #2 (Test it) back: no'],
])('the text after the name says who did what: %o', (event, text) => {
  expect(describeEvent({ at: 0, ...event } as TeamEvent, titles).text).toBe(text);
});

test('lines name a task that was added or renamed later by its title', () => {
  const screen: Screen = { isTerminal: false, hasColor: false, columns: 200, now: 0 };
  const known = new Map(titles);
  const told = (event: object): string => {
    const events = [{ at: 0, by: 'lead', type: '', ...event }];
    noteTitles(known, events);
    return eventLines({ seq: 1, events }, screen, known).join('');
  };
  expect(told({ type: 'task:created', taskId: '7', title: 'Ship it' })).toContain('lead  added task #7: Ship it');
  expect(told({ type: 'task:completed', taskId: '7' })).toContain('completed task #7 (Ship it)');
  told({ type: 'task:updated', taskId: '7', title: 'Ship both' });
  expect(told({ type: 'task:completed', taskId: '7' })).toContain('completed task #7 (Ship both)');
});

test('a line says why a member waits, but not that its status changed', () => {
  const screen: Screen = { isTerminal: false, hasColor: false, columns: 200, now: 0 };
  const told = (change: object) => {
    const event = { type: 'teammate:changed', at: 0, by: '@system', memberId: 'ann', ...change };
    return eventLines({ seq: 1, events: [event] }, screen).join('');
  };
  expect(told({ metadata: { waiting: { reason: 'no machine has what it needs (gpu)' } } })).toContain(
    'ann waits: no machine has what it needs (gpu)',
  );
  expect(told({ status: 'working' })).toBe('');
  expect(told({ metadata: { mood: 'fine' } })).toBe('');
});

test('a long line without a screen width is cut, and says where the rest is', () => {
  const screen: Screen = { isTerminal: false, hasColor: false, columns: Infinity, now: 0 };
  const told = (event: object) => eventLines({ seq: 1, events: [{ type: '', at: 0, by: 'ann', ...event }] }, screen)[0];
  const head = `${new Date(0).toISOString()}  ann  `;
  const long = 'FAIL a.test.ts\n'.repeat(2000);
  const rejected = 'a gate sent task #2 back: ';
  expect(told({ type: 'task:rejected', by: '@system', taskId: '2', feedback: long })).toBe(
    `${head.replace('ann', '@system')}${rejected}${long.replaceAll('\n', ' ').slice(0, 199 - rejected.length)}… (all of it: troupe task show 2)\n`,
  );
  expect(told({ type: 'note:added', text: long })).toMatch(/… \(all of it: troupe event list --json\)\n$/);
  expect(told({ type: 'note:added', text: 'x'.repeat(190) })).toBe(`${head}noted: ${'x'.repeat(190)}\n`);
});
