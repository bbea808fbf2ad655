import { expect, test } from 'vitest';
import { reviewSave } from '../../src/workspaces/clone/review.ts';
import { openPlaces } from '../../src/workspaces/places.ts';
import type { Saved } from '../../src/workspaces/workspace.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openBare } from './bare.ts';
import { depotThatKnows } from './knowing-git.ts';

const [BASE, COMMIT, TREE] = ['1'.repeat(40), '2'.repeat(40), '3'.repeat(40)];

test.for([
  ['a new name beside one that was there', ['a', 'A'], ['a'], [['A', 'a']]],
  ['two new names', ['x/B', 'x/b', 'x/c', 'y/b'], [], [['x/B', 'x/b']]],
  ['the same letters in another form', ['e\u0301', '\u00e9'], ['\u00e9'], [['e\u0301', '\u00e9']]],
  ['two names that were there', ['a', 'A', 'new'], ['a', 'A'], []],
  ['no other name', ['a', 'ab', 'b'], ['a'], []],
] as const)('a review finds names that differ only in case: %s', async ([, now, before, found]) => {
  const list = (names: readonly string[]) => names.map((name) => `${name}\0`).join('');
  const { handle } = depotThatKnows({
    'diff-tree': '',
    [`ls-tree ${TREE}`]: list(now),
    [`ls-tree ${BASE}`]: list(before),
  });
  const places = await openPlaces(temporaryFolder(), { endLeftovers: async () => {} });
  const save: Saved = {
    commit: COMMIT,
    tree: TREE,
    base: BASE,
    at: 0,
    unchanged: false,
    changes: [{ path: 'new', status: 'added' }],
    leftOut: [],
  };
  const problems = await reviewSave(handle, { places, save });
  expect(problems).toEqual(found.map((paths) => ({ kind: 'case', paths })));
});

test('an underline is a left marker only where a conflict was laid, and no side has a heading', async () => {
  const { handle, places, commit } = await openBare();
  const marked = 'one\n=======\ntwo\n';
  const base = await commit({ 'a.txt': 'a\n', 'heading.txt': 'h\n', 'calm.txt': 'c\n' });
  const tip = await commit({ 'a.txt': 'tip\n', 'heading.txt': 'Title\n=======\n' }, { parents: [base] });
  const work = await commit({ 'a.txt': 'work\n', 'heading.txt': 'work\n' }, { parents: [base] });
  const saved = await commit(
    { 'a.txt': marked, 'heading.txt': `${marked}=======\n`, 'calm.txt': marked, 'sure.txt': '<<<<<<< ours\n' },
    { parents: [tip] },
  );
  const changes = ['a.txt', 'calm.txt', 'heading.txt'].map((path) => ({ path, status: 'modified' as const }));
  const save = { commit: saved, tree: '', base: tip, at: 0, unchanged: false, changes, leftOut: [] };
  const left = async (laid?: { commit: string; base: string }) =>
    (await reviewSave(handle, { places, save, laid })).map((problem) => JSON.stringify(problem));
  const sure = JSON.stringify({ kind: 'markers', path: 'sure.txt', line: 1 });
  expect(await left()).toEqual([sure]);
  expect(await left({ commit: work, base })).toEqual([
    JSON.stringify({ kind: 'markers', path: 'a.txt', line: 2 }),
    sure,
  ]);
  // The heading may be on the side of the work.
  expect(await left({ commit: tip, base })).toEqual([sure]);
});
