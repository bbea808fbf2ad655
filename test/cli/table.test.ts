import { describe, expect, test } from 'vitest';
import { pairs, table } from '../../src/cli/show/table.ts';
import { widthOf } from '../../src/cli/show/text.ts';

const COLUMNS = [{ title: '#', align: 'right' }, { title: 'TASK', flexible: true }, { title: 'WHO' }] as const;
const ROWS = [
  ['1', 'Write the parser', 'ada'],
  ['12', { text: '日本語のタイトル', style: 'red' }, 'worker-1'],
  ['3', 'Emoji 👍🏽 and\nanother line', ''],
] as const;
const screen = { isTerminal: true, hasColor: false, columns: 80, now: 0 };

describe('a table', () => {
  test('has columns as wide as their content', () => {
    expect(table(COLUMNS, ROWS, screen)).toBe(
      [
        ' #  TASK                       WHO',
        ' 1  Write the parser           ada',
        '12  日本語のタイトル           worker-1',
        ' 3  Emoji 👍🏽 and another line',
        '',
      ].join('\n'),
    );
  });

  test.each([80, 40, 30, 24, 20])('fits into %i columns', (columns) => {
    for (const line of table(COLUMNS, ROWS, { ...screen, columns }).split('\n')) {
      expect(widthOf(line)).toBeLessThanOrEqual(Math.max(columns, 22));
    }
  });

  test('leaves out spare columns before it cuts others, and uses marks instead of words', () => {
    const columns = [
      { title: '#' },
      { title: 'STATUS' },
      { title: 'TASK', flexible: true },
      { title: 'NEEDS', spare: 1 },
      { title: 'CHANGED', spare: 2 },
    ] as const;
    const status = { text: '◐ in progress', short: '◐' };
    const rows = [['#1', status, 'Write the parser of it', '#7', '3 min ago']];
    const head = (width: number): string => table(columns, rows, { ...screen, columns: width }).split('\n')[0] ?? '';
    expect(head(80)).toMatch(/NEEDS +CHANGED$/);
    expect(head(52)).toMatch(/TASK +NEEDS$/);
    expect(head(41)).toMatch(/STATUS +TASK$/);
    expect(table(columns, rows, { ...screen, columns: 30 })).toBe('#      TASK\n#1  ◐  Write the parser of it\n');
  });

  test('cuts the longest of several texts, not the first one', () => {
    const columns = [{ title: 'TASK', flexible: true }, { title: 'WHO' }, { title: 'RESULT', flexible: true }] as const;
    const rows = [['Make the repository', 'ada', 'a repository with package.json, src/ and test/']];
    expect(table(columns, rows, { ...screen, columns: 60 }).split('\n')[1]).toBe(
      'Make the repository  ada  a repository with package.json, s…',
    );
    expect(table(columns, rows, { ...screen, columns: 31 }).split('\n')[1]).toBe('Make the re…  ada  a repositor…');
  });

  test('leaves out an empty column', () => {
    expect(table(COLUMNS, [['1', 'Alone', '']], screen)).toBe('#  TASK\n1  Alone\n');
  });

  test('is not cut if the width is unlimited', () => {
    const long = 'x'.repeat(1_000);
    expect(table(COLUMNS, [['1', long, 'ada']], { ...screen, columns: Infinity })).toContain(long);
  });

  test('pads by visible width, without colours', () => {
    const colored = table(COLUMNS, ROWS, { ...screen, hasColor: true });
    expect(colored).toContain('\x1b[31m日本語のタイトル\x1b[39m           worker-1');
  });
});

test('pairs are never cut: the second column wraps below its start, and a long word stays whole, further left if it must', () => {
  const rows = [
    ['gemini', 'npm install --global @google/gemini-cli-with-a-long-name'],
    ['goose', 'see its page'],
  ];
  expect(pairs([{ title: 'AGENT' }, { title: 'HOW' }], rows, { ...screen, columns: 34 })).toBe(
    [
      'AGENT   HOW',
      'gemini  npm install --global',
      '@google/gemini-cli-with-a-long-name',
      'goose   see its page',
      '',
    ].join('\n'),
  );
});
