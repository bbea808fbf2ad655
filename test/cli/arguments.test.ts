import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/table.ts';
import { readArguments } from '../../src/cli/line/arguments.ts';
import { findCommand } from '../../src/cli/line/find.ts';
import { UsageError } from '../../src/cli/show/errors.ts';
import { showDuration, showTime } from '../../src/cli/show/time.ts';
import { findNearest } from '../../src/core/nearest.ts';
import { wordsOf } from './troupe.ts';

function read(line: string | readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const found = findCommand(COMMANDS, wordsOf(line));
  return readArguments(found!.command, found!.rest, {
    environment,
    findTeams: async () => ({ names: [], areHere: false }),
  });
}

describe('arguments', () => {
  test('become the input of the operation', async () => {
    expect(
      await read('task add "A title" --team demo --needs 1,2 --needs 3 --priority=high --assign worker-1'),
    ).toEqual({
      input: {
        title: 'A title',
        teamId: 'demo',
        dependencies: ['1', '2', '3'],
        priority: 'high',
        assigneeId: 'worker-1',
      },
      as: undefined,
      json: false,
    });
    expect(await read('task depend 3 1 2 --team demo')).toMatchObject({
      input: { taskId: '3', dependencies: ['1', '2'] },
    });
    expect(await read('task depend 3 1,2 --team demo')).toMatchObject({ input: { dependencies: ['1', '2'] } });
    expect(await read('task update 3 --team demo --assign none')).toMatchObject({ input: { assigneeId: null } });
    expect(await read('task claim --team demo --wait 1.5m')).toMatchObject({ input: { wait: 90_000 } });
    expect(await read(['task', 'add', 'T', '--team', 'demo', '--metadata', '{"a":1}'])).toMatchObject({
      input: { metadata: { a: 1 } },
    });
    expect(await read('member add a --team demo --plan-approval-required')).toMatchObject({
      input: { planApprovalRequired: true },
    });
    // Comments are sentences: commas do not end them.
    const comments = ['a.ts:1: short, but wrong', 'b.ts:-2: why?'];
    const flags = ['--comments', comments[0] ?? '', '--comments', comments[1] ?? ''];
    expect(await read(['work', 'review', '3', '4a5b6c7', '--no-approve', '--team', 'demo', ...flags])).toMatchObject({
      input: { approve: false, comments },
    });
    const denied = ['--deny', '--comment', comments[0] ?? '', '--comment', comments[1] ?? ''];
    expect(await read(['approve', 'ann', ...denied])).toMatchObject({ input: { deny: true, comments } });
    expect(await read('inbox --team demo --unread=false')).toMatchObject({ input: { unread: false } });
    expect(await read('logs --daemon -f -n 5')).toMatchObject({ input: { daemon: true, follow: true, lines: 5 } });
  });

  test('name the caller with --as, and the team of an import with --rename', async () => {
    for (const words of ['import', 'team import']) {
      expect(await read(`${words} demo.troupe --rename demo-2`)).toMatchObject({ input: { rename: 'demo-2' } });
    }
    const claim = await read('task claim --team demo --as ann');
    expect(claim).toMatchObject({ as: 'ann' });
    expect(claim.input).not.toHaveProperty('as');
  });

  test('may give a time as a moment or as an age', async () => {
    expect(await read('inbox --team demo --since 2026-01-31T12:00:00Z')).toMatchObject({
      input: { since: '2026-01-31T12:00:00.000Z' },
    });
    const { input } = await read('inbox --team demo --since 10m');
    expect(Date.now() - Date.parse(input['since'] as string)).toBeGreaterThanOrEqual(600_000);
  });

  test('may name the team as an argument, by a flag or by a variable', async () => {
    expect(await read('team show demo')).toMatchObject({ input: { teamId: 'demo' } });
    expect(await read('team show --team demo')).toMatchObject({ input: { teamId: 'demo' } });
    expect(await read('team show', { TROUPE_TEAM: 'demo' })).toMatchObject({ input: { teamId: 'demo' } });
    await expect(read('team close', { TROUPE_TEAM: 'demo' })).rejects.toThrow(UsageError);
  });

  test('take the member from the environment, unless a credential names it', async () => {
    const name = { TROUPE_TEAM: 'demo', TROUPE_MEMBER_NAME: 'ada' };
    expect(await read('task claim', name)).toMatchObject({ as: 'ada' });
    expect(await read('task claim --as bob', name)).toMatchObject({ as: 'bob' });
    expect(await read('task claim', { ...name, TROUPE_TOKEN: 'x' })).toMatchObject({ as: undefined });
    expect(await read('team create other', name)).toMatchObject({ as: undefined });
  });

  test('may be texts that look like flags', async () => {
    expect(await read(['send', 'ada', '- one\n- two', '--team', 'demo'])).toMatchObject({
      input: { content: '- one\n- two' },
    });
    expect(await read(['send', 'ada', '--team=demo', '--', '--urgent'])).toMatchObject({
      input: { content: '--urgent' },
    });
    expect(await read(['task', 'complete', '1', '--team', 'demo', '--result', '-1'])).toMatchObject({
      input: { result: '-1' },
    });
    expect(await read(['task', 'complete', '1', '--team', 'demo', '--result=--json'])).toMatchObject({
      input: { result: '--json' },
      json: false,
    });
  });
});

test('a misspelled word is recognised', () => {
  const known = ['task', 'team', 'member', 'status', 'description'];
  expect(findNearest('tsak', known)).toBe('task');
  expect(findNearest('memeber', known)).toBe('member');
  expect(findNearest('desc', known)).toBe('description');
  expect(findNearest('xyzzy', known)).toBeUndefined();
  expect(findNearest('TASK', known)).toBe('task');
  // If two are equally near, the one with the same first letter wins. A single letter is near to no other.
  expect(findNearest('fsh', ['bash', 'zsh', 'fish'])).toBe('fish');
  expect(findNearest('c', ['a', 'b'])).toBeUndefined();
});

test('times are shown in the units that people use', () => {
  expect([0, 59_000, 60_000, 3_600_000, 200_000_000].map((ms) => showDuration(ms))).toEqual([
    '0 s',
    '59 s',
    '1 min',
    '1 h',
    '2 days',
  ]);
  const screen = { isTerminal: true, hasColor: false, columns: 80, now: Date.parse('2026-01-01T00:10:00Z') };
  expect(showTime('2026-01-01T00:07:00Z', screen)).toBe('3 min ago');
  expect(showTime('2026-01-01T00:09:59Z', screen)).toBe('just now');
  expect(showTime('2026-01-01T00:12:00Z', screen)).toBe('in 2 min');
  expect(showTime('2026-01-01T00:07:00Z', { ...screen, isTerminal: false })).toBe('2026-01-01T00:07:00Z');
});
