import { expect, test } from 'vitest';
import { findRequest } from '../../src/cli/commands/approve.ts';
import { describeAnswer, waitingBlocks } from '../../src/cli/show/views/waiting.ts';
import type { ResultOf } from '../../src/operations/index.ts';
import { HOSTILE } from './hostile.ts';

type Request = ResultOf<'request.list'>[number];

const screen = { isTerminal: true, hasColor: false, columns: 60, now: Date.parse('2026-01-01T00:10:00Z') };

function asked(content: string, more: Partial<Request> = {}): Request {
  return {
    id: 'permission-1@coder',
    teamId: 'demo',
    kind: 'permission',
    memberId: 'coder',
    requestedBy: 'coder',
    requestedAt: '2026-01-01T00:07:00.000Z',
    content,
    status: 'pending',
    ...more,
  };
}

test('a request is shown whole: the member, the full text, and the commands to answer it', () => {
  const command =
    'Bash: npm test && echo all is well with the world and nothing to see here; rm -rf ~/work\nsecond line';
  expect(waitingBlocks([asked(command, { taskId: '3' })], screen)).toBe(
    [
      'permission of coder (team demo, task #3, 3 min ago)',
      '  │ Bash: npm test && echo all is well with the world and',
      '  ┆ nothing to see here; rm -rf ~/work',
      '  │ second line',
      '  To allow it: troupe approve coder',
      '  To deny it: troupe approve coder --deny --feedback "why"',
      '',
    ].join('\n'),
  );
  expect(waitingBlocks([asked('ls')], { ...screen, columns: 40 })).toContain(
    '  To allow it: troupe approve coder\n  To deny it:\n    troupe approve coder --deny --feedback "why"\n',
  );
});

test('a question about a budget says all in words: its fields are not listed', () => {
  const detail = { of: 'member', what: 'costUsd', used: 1, limit: 1, grants: 1 };
  const shown = waitingBlocks(
    [asked('The budget of coder: $1.00 of $1.00 is used', { kind: 'budget', detail })],
    screen,
  );
  expect(shown).toContain('The budget of coder: $1.00 of $1.00 is used');
  expect(shown).toContain('To allow $1.00 more: troupe approve coder\n');
  expect(shown).not.toContain('costUsd');
});

test('two requests of one member are answered by their ids, and a team that was named is named again', () => {
  const both = [asked('one'), asked('two', { id: 'permission-2@coder' }), asked('three', { memberId: 'other' })];
  const shown = waitingBlocks(both, { ...screen, columns: 200 }, 'demo');
  expect(shown.match(/To allow it.*/g)).toEqual([
    'To allow it: troupe approve permission-1@coder --team demo',
    'To allow it: troupe approve permission-2@coder --team demo',
    'To allow it: troupe approve other --team demo',
  ]);
});

test('a request that nobody has is refused with the one that was probably meant', () => {
  const waiting = [asked('one', { memberId: 'gamma' }), asked('two', { memberId: 'ben', id: 'permission-2@ben' })];
  expect(findRequest(waiting, 'ben').content).toBe('two');
  const none = 'No request of ';
  expect(() => findRequest(waiting, 'gama')).toThrow(
    `${none}gama waits for you; did you mean gamma? troupe approve lists`,
  );
  expect(() => findRequest(waiting, 'nobody')).toThrow(`${none}nobody waits for you: troupe approve lists them`);
  expect(() => findRequest([], 'gama')).toThrow(`${none}gama waits for you, and none of anybody else`);
});

test('a long plan keeps its indent and is shown to its end', () => {
  const plan = Array.from({ length: 100 }, (_, i) => `${i % 2 ? '    ' : ''}Step ${i + 1}`).join('\n');
  const shown = waitingBlocks([asked(plan, { kind: 'plan' })], screen);
  expect(shown).toContain('  │     Step 40\n');
  expect(shown).toContain('  │     Step 100\n');
  expect(waitingBlocks([asked(plan)], { ...screen, isTerminal: false, columns: Infinity })).toContain('Step 100\n');
});

test('an agent that only gives a title is shown with its input: paths, texts and the deadline', () => {
  const input = JSON.stringify({
    path: '/home/me/.bashrc',
    content: 'one\nt\x1b[2Jwo',
    description: 'Tidy up',
    mode: 7,
  });
  const more = { detail: { tool: 'edit', input }, deadline: '2026-01-01T00:17:30.000Z' };
  expect(waitingBlocks([asked('edit: Tidy up', more)], screen)).toBe(
    [
      'permission of coder (team demo, 3 min ago)',
      '  │ edit: Tidy up',
      '  │ path: /home/me/.bashrc',
      '  content:',
      '    │ one',
      '    │ t\\x1b[2Jwo',
      '  │ mode: 7',
      "  If you don't answer, it is denied in 8 min.",
      '  To allow it: troupe approve coder',
      '  To deny it: troupe approve coder --deny --feedback "why"',
      '',
    ].join('\n'),
  );
  const cut = waitingBlocks([asked('edit: x', { detail: { input: '{"a":"b… (9 more)' } })], screen);
  expect(cut).toContain('  │ input: {"a":"b… (9 more)\n');
  const gate = asked('no', {
    kind: 'gate',
    detail: { epoch: 2, result: 'wrote 1.md' },
    deadline: '2026-01-01T00:01:00Z',
  });
  expect(waitingBlocks([gate], screen)).toMatch(/result: wrote 1\.md\n {2}Without an answer the task fails now\./);
});

test('a deadline is rounded to the nearest, and says what happens then', () => {
  const at = (ms: number): string => new Date(screen.now + ms).toISOString();
  const day = 24 * 60 * 60_000;
  const said = (kind: 'gate' | 'permission', ms: number): string =>
    /(?:If|Without).*\./.exec(waitingBlocks([asked('no', { kind, deadline: at(ms) })], screen))?.[0] ?? '';
  expect(said('gate', day - 900)).toBe('Without an answer the task fails in 24 h.');
  expect(said('permission', day - 900)).toBe("If you don't answer, it is denied in 24 h.");
  expect(said('permission', 60 * 60_000 - 900)).toBe("If you don't answer, it is denied in 1 h.");
  expect(said('permission', 90 * 60_000 - 60_000)).toBe("If you don't answer, it is denied in 1 h.");
});

test('control and invisible characters are written out', () => {
  expect(waitingBlocks([asked('ls\r\x1b[2K\u202eevil\u{e0041}')], screen)).toContain(
    '  │ ls\\x0d\\x1b[2K\\u202eevil\\u{e0041}\n',
  );
  for (const text of HOSTILE) {
    expect(waitingBlocks([asked(text)], screen).replaceAll('\n', '')).not.toMatch(
      /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u,
    );
  }
});

test('an answer says what follows from it', () => {
  const gate = asked('', { kind: 'gate', taskId: '1', memberId: 'planner' });
  expect(describeAnswer({ ...gate, status: 'rejected' })).toBe('Task #1 of planner goes back to be done again.');
  expect(describeAnswer({ ...gate, status: 'approved' })).toBe('Task #1 of planner counts as completed.');
  const unsaved = ['big.bin is larger than the limit\u202e', 'a.log is ignored'];
  expect(describeAnswer({ ...gate, status: 'approved', unsaved })).toBe(
    'Task #1 of planner counts as completed.\n' +
      'This did not land, because no save has it. It is in the workspace of planner:\n' +
      '- big.bin is larger than the limit\n- a.log is ignored',
  );
});
