import { describe, expect, test } from 'vitest';
import { views } from '../../src/cli/views/all.ts';
import { showAnything } from '../../src/cli/views/generic.ts';
import { OPERATIONS } from '../../src/operations/index.ts';
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

  test('is names and values if it is a thing', () => {
    expect(showAnything({ teamId: 'demo', ok: true, text: 'two\nlines' }, screen)).toBe(
      ['  team id  demo', '  ok       true', '', '  text', '    two', '    lines', ''].join('\n'),
    );
    expect(showAnything('plain', screen)).toBe('plain\n');
  });

  test('holds nothing that a terminal would obey', () => {
    for (const text of HOSTILE) {
      for (const result of [[{ text, [text]: 1 }], { text, many: [text] }]) {
        expect(showAnything(result, screen).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }
    }
  });
});

test('every operation has a view of its own', () => {
  expect(OPERATIONS.map(({ name }) => name).filter((name) => !Object.hasOwn(views, name))).toEqual([]);
});
