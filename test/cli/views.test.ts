import { describe, expect, test } from 'vitest';
import { views } from '../../src/cli/show/views/all.ts';
import { showAnything } from '../../src/cli/show/views/generic.ts';
import { SharedTask } from '../../src/core/task.ts';
import { OPERATIONS } from '../../src/operations/index.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { HOSTILE } from './hostile.ts';

const screen = { isTerminal: true, hasColor: false, columns: 80, now: Date.parse('2026-01-01T00:10:00Z') };

describe('a result that has no view of its own', () => {
  test('is a table if it is a list', () => {
    const list = [
      { id: 'a', createdAt: '2026-01-01T00:07:00.000Z', tags: ['x', 'y'], nested: { deep: true } },
      { id: 'b', createdAt: '2026-01-01T00:09:00.000Z', tags: [], count: 3 },
    ];
    expect(showAnything(list, screen)).toBe(
      ['ID  CREATED AT  TAGS  COUNT', 'a   3 min ago   x, y', 'b   1 min ago         3', ''].join('\n'),
    );
    expect(showAnything([], screen)).toBe('There are none.\n');
    expect(showAnything(['one', 'two'], screen)).toBe('VALUE\none\ntwo\n');
  });

  test('is names and values if it is an object', () => {
    expect(showAnything({ teamId: 'demo', ok: true, text: 'two\nlines' }, screen)).toBe(
      ['  team id  demo', '  ok       true', '', '  text', '    two', '    lines', ''].join('\n'),
    );
    expect(showAnything('plain', screen)).toBe('plain\n');
  });

  test('contains no control or bidi character', () => {
    for (const text of HOSTILE) {
      for (const result of [[{ text, [text]: 1 }], { text, many: [text] }]) {
        expect(showAnything(result, screen).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }
    }
  });
});

test('small amounts of money are not shown as zero', () => {
  for (const [costUsd, shown] of [
    [0, '-'],
    [12.345, '12.35'],
    [0.999, '1.00'],
    [0.5, '0.50'],
    [0.0421, '0.042'],
    [0.00042, '0.00042'],
    [0.00000042, '<0.0001'],
  ] as const) {
    const usage = {
      inputTokens: 1,
      outputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      turns: 1,
      estimated: false,
    };
    const text = views['usage.show']?.({ members: { ann: { ...usage, costUsd } }, tasks: {} }, screen, {});
    expect(text).toMatch(new RegExp(` ${shown.replace('.', '\\.')}\n`));
  }
});

test('usage that nobody reported is not shown as zero', () => {
  const silent = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, turns: 2, costUsd: 0 };
  const text = views['usage.show']?.({ members: { ann: { ...silent, estimated: false } }, tasks: {} }, screen, {});
  expect(text).toMatch(/^ann +2 +- +- +- +- +-$/m);
});

test('every operation has a view of its own, or says in its definition what it did to a task', () => {
  const operations: readonly Operation[] = OPERATIONS;
  const seen = new Set(Object.keys(views));
  const said = operations.filter(({ cli }) => cli?.said !== undefined);
  expect(operations.map(({ name }) => name).filter((name) => !seen.has(name))).toEqual(said.map(({ name }) => name));
  // Each of them returns its task.
  expect(said.filter(({ result }) => result !== SharedTask).map(({ name }) => name)).toEqual([]);
});

test('hooks that run in different folders say where', () => {
  const hook = {
    type: 'TaskCompleted',
    command: './gate.sh',
    executor: 'shell',
    timeout: 5_000,
    enabled: true,
  } as const;
  const listed = (...folders: string[]): string => {
    const hooks = folders.map((cwd) => ({ ...hook, cwd, onFailure: 'block' as const }));
    return views['hook.list']?.(hooks, screen, {}) ?? '';
  };
  expect(listed('/w1', '/w1')).not.toContain('/w1');
  expect(listed('/w1', '/w2')).toMatch(/\.\/gate\.sh +\/w1\n.*\.\/gate\.sh +\/w2\n$/);
});

describe('a native team on a narrow terminal', () => {
  const narrow = { ...screen, columns: 60 };
  const at = '2026-01-01T00:07:00.000Z';

  test('leaves out the least important columns, and keeps the others readable', () => {
    const members = [{ name: 'codex-reviewer-1', agentType: 'general-purpose', model: 'claude-opus-5-5', unread: 12 }];
    const tasks = [
      { id: '1', subject: 'Move the parser', status: 'in_progress', owner: 'codex-reviewer-1', blockedBy: [] },
    ];
    const mail = [{ from: 'team-lead', to: 'codex-1', text: 'Please look at the parser', sentAt: at, read: false }];
    const about = { name: 'session-0fc79bc3', kind: 'team', form: 'known', title: 'lab', messages: 1 } as const;
    const shown =
      views['native.show']?.({ ...about, members, tasks, mail, problems: [], changedAt: at }, narrow, {}) ?? '';
    for (const words of ['codex-reviewer-1  general-purpose', '◐ in progress', 'Move the parser', 'Please look at']) {
      expect(shown).toContain(words);
    }
    const team = 'a-team-of-theirs-with-a-long-name';
    const events = [{ number: 113, at, team, type: 'task-changed', taskId: '1', status: 'completed' }] as const;
    expect(views['native.events']?.([...events], narrow, {})).toMatch(/a-team-of-theirs-wit…  task changed: #1 com/);
  });

  test('shows no time of change for a team that cannot be read', () => {
    const team = { name: 'closed', kind: 'team', form: 'unreadable', title: 'closed', messages: 0 } as const;
    const shown = views['native.list']?.(
      { root: '/', lastEvent: 0, degraded: false, teams: [{ ...team, members: [], tasks: [], problems: [] }] },
      { ...screen, isTerminal: false, columns: Infinity },
      {},
    );
    expect(shown).toMatch(/^NATIVE TEAM +KIND +DONE +MAIL\nclosed +team \(unreadable\) +0\/0 +0\n$/);
  });
});
