import { expect, test } from 'vitest';
import { compareLines, editsOf } from '../../ui/log/edits.ts';
import type { FileEdit } from '../../ui/log/edits.ts';

const shown = (edits: readonly FileEdit[] | undefined): string[] =>
  (edits ?? []).flatMap(({ path, lines }) => [path, ...lines.map(({ sign, text }) => `${sign}${text}`)]);

test.for<[string, string, unknown, string[]]>([
  ['Edit', 'Claude Code', { file_path: 'a.ts', old_string: 'x\ny', new_string: 'x\nz' }, ['a.ts', ' x', '-y', '+z']],
  ['Write', 'a new file', { file_path: 'a.ts', content: 'x\ny\n' }, ['a.ts', '+x', '+y']],
  [
    'MultiEdit',
    'several places',
    { file_path: 'a', edits: [1, 2].map((n) => ({ old_string: `${n}`, new_string: `${n}0` })) },
    ['a', '-1', '+10', '-2', '+20'],
  ],
  [
    'edit',
    'Codex',
    { paths: ['b'], changes: [{ path: 'b', diff: '@@ -1 +1 @@\n-x\n+y\n' }] },
    ['b', '…@@ -1 +1 @@', '-x', '+y'],
  ],
  ['edit', 'a new file of Codex', { changes: [{ path: 'b', kind: { type: 'add' }, diff: 'x\n' }] }, ['b', '+x']],
  ['edit', 'ACP', { changes: [{ path: 'c', oldText: 'x\n', newText: 'y\n' }] }, ['c', '-x', '+y']],
  [
    'apply_patch',
    'a patch',
    { input: '*** Begin Patch\n*** Update File: d\n@@\n x\n-y\n+z\n*** Delete File: e\n*** End Patch' },
    ['d', '…@@', ' x', '-y', '+z', 'e (deleted)'],
  ],
])('%s is shown as a difference: %s', ([name, , input, lines]) => {
  expect(shown(editsOf(name, input))).toEqual(lines);
});

test('a call that changes nothing is no edit', () => {
  for (const input of ['ls', { command: 'ls' }, { file_path: 'a.ts' }, undefined, { changes: [{ path: 'a' }] }]) {
    expect(editsOf('Read', input)).toBeUndefined();
  }
});

test('unchanged lines far from a change are left out', () => {
  const before = Array.from({ length: 30 }, (_, i) => `line ${i}`);
  const after = before.map((line, i) => (i === 15 ? 'other' : line));
  expect(
    compareLines(before.join('\n'), after.join('\n'))
      .map(({ sign }) => sign)
      .join(''),
  ).toBe('…   -+   …');
});
