import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reviewSave } from '../../src/workspaces/clone/review.ts';
import { findUnsaved } from '../../src/workspaces/clone/unsaved.ts';
import { compare } from '../../src/workspaces/depot/compare.ts';
import { findConflicts } from '../../src/workspaces/depot/conflicts.ts';
import { readDiff } from '../../src/workspaces/depot/diff.ts';
import type { DepotHandle } from '../../src/workspaces/depot/handle.ts';
import { branchRef, landWork } from '../../src/workspaces/depot/merge.ts';
import { findCommits } from '../../src/workspaces/depot/packs.ts';
import { findRefused } from '../../src/workspaces/depot/refused.ts';
import { isAncestor, makeSave } from '../../src/workspaces/depot/saves.ts';
import type { Git } from '../../src/workspaces/git.ts';
import { openPlaces } from '../../src/workspaces/places.ts';
import { stageFolder } from '../../src/workspaces/stage.ts';
import { listSubmodules, markSubmodules } from '../../src/workspaces/submodules.ts';
import type { Change, Saved } from '../../src/workspaces/workspace.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openBare } from './bare.ts';
import { depotThatKnows } from './knowing-git.ts';
import { write } from './project.ts';

const [ONE, TWO] = ['1'.repeat(40), '2'.repeat(40)];

const SAVED: Saved = { commit: TWO, tree: TWO, base: ONE, at: 0, unchanged: false, changes: [], leftOut: [] };

function savedWith(path: string, status: Change['status']): Saved {
  return { ...SAVED, changes: [{ path, status }] };
}

describe('git is not started', () => {
  test('to compare a commit with itself, or for an empty list', async () => {
    const { handle, asked } = depotThatKnows({});
    expect(await compare(handle, [ONE, ONE])).toEqual([]);
    expect(await isAncestor(handle, ONE, ONE)).toBe(true);
    expect(await findCommits(handle, [])).toEqual([]);
    expect(await findConflicts(handle, { making: '/nowhere' }, [])).toEqual([]);
    expect((await readDiff(handle, [ONE, TWO], { paths: [] })).files).toEqual([]);
    expect(asked).toEqual([]);
  });

  test('for the text of a difference that is only listed', async () => {
    const changed = `:100644 100644 ${ONE} ${TWO} M\0a.txt\u00001\t2\ta.txt\0`;
    const { handle, asked } = depotThatKnows({ 'diff-tree': changed });
    const diff = await readDiff(handle, [ONE, TWO], { maxBytes: 0 });
    expect(diff).toMatchObject({ files: [{ path: 'a.txt', added: 1, deleted: 2 }], text: '', isCut: true });
    expect(asked).toEqual(['diff-tree']);
  });

  test('to check files that git takes with any content', async () => {
    const places = await openPlaces(temporaryFolder(), { endLeftovers: async () => {} });
    const names = ['a.txt', 'gitmodules', 'link/.gitmodules'];
    const raw = names.map(
      (name) => `:000000 ${name.startsWith('link') ? '120000' : '100644'} ${ONE} ${TWO} A\0${name}\0`,
    );
    const { handle } = depotThatKnows({ 'diff-tree': raw.join('') });
    expect(await findRefused(handle, places, [ONE, TWO])).toEqual([]);
  });

  test('to look for what a review cannot find', async () => {
    const places = await openPlaces(temporaryFolder(), { endLeftovers: async () => {} });
    const review = async (save: Saved) => {
      const { handle, asked } = depotThatKnows({ 'diff-tree': '' });
      expect(await reviewSave(handle, { places, save })).toEqual([]);
      return asked;
    };
    expect(await review(SAVED)).toHaveLength(2);
    expect(await review(savedWith('a.txt', 'modified'))).toHaveLength(2);
    expect(await review(savedWith('.gitmodules', 'modified'))).toHaveLength(3);
    await expect(review(savedWith('a.txt', 'added'))).rejects.toThrow('git ls-tree was started');
  });

  test('to ask about ignored files and submodules where there are none', async () => {
    const { git, handle } = depotThatKnows({ 'ls-files': '' });
    const folder = temporaryFolder();
    const files = { git, dir: handle.dir, index: join(folder, 'index'), folder };
    expect(await listSubmodules(files)).toEqual([]);
    expect(await markSubmodules(files)).toEqual([]);
    expect(await findUnsaved({ handle, index: files.index, folder, base: ONE }, TWO)).toEqual([]);
  });
});

test('what conflicts are looked for in is not flushed to the disk', async () => {
  const { handle, places, commit } = await openBare();
  const base = await commit({ 'a.txt': 'a\n' });
  const [one, two] = [
    await commit({ 'a.txt': 'b\n' }, { parents: [base] }),
    await commit({ 'a.txt': 'c\n' }, { parents: [base] }),
  ];
  const configs: (readonly string[])[] = [];
  const watched: DepotHandle = {
    ...handle,
    run: (args, options) => {
      configs.push(options?.config ?? []);
      return handle.run(args, options);
    },
  };
  expect(await findConflicts(watched, places, [[one, two]])).toEqual([['a.txt']]);
  for (const config of configs) expect(config).toContain('core.fsync=none');
});

test('a folder is staged with as few starts of git as there are kinds of changes', async () => {
  const { git, dir, commit } = await openBare();
  const [folder, index] = [temporaryFolder(), join(temporaryFolder(), 'index')];
  const place = { dir, index, tree: folder };
  await git.run(place, ['read-tree', '-m', '-u', await commit({ 'a.txt': 'a\n', 'b.txt': 'b\n' })]);
  const asked: string[] = [];
  const counted: Git = {
    ...git,
    run: (where, args, options) => {
      asked.push(args[0] ?? '');
      return git.run(where, args, options);
    },
  };
  const stage = async (filters: ReadonlySet<string> = new Set()) => {
    asked.length = 0;
    const limits = { fileSize: 100, workSize: 100 };
    await stageFolder({ git: counted, dir, index, folder, limits, filters }, [Buffer.from('a.txt')]);
    return asked.toSorted();
  };
  const look = ['diff-files', 'ls-files'];
  expect(await stage(new Set(['lfs']))).toEqual(look);
  write(folder, { 'new.txt': 'new\n' });
  expect(await stage()).toEqual([...look, 'update-index']);
  rmSync(join(folder, 'new.txt'));
  expect(await stage(new Set(['lfs']))).toEqual([...look, 'update-index']);
  write(folder, { 'new.txt': 'new\n' });
  rmSync(join(folder, 'b.txt'));
  expect(await stage(new Set(['lfs']))).toEqual(['check-attr', ...look, 'update-index', 'update-index']);
});

test('what git has just said of a tip, a branch and a save is not asked again', async () => {
  const bare = await openBare();
  const base = await bare.commit({ 'a.txt': 'a\n' });
  const [work, more] = [
    await bare.commit({ 'b.txt': 'b\n' }, { parents: [base] }),
    await bare.commit({ 'c.txt': 'c\n' }, { parents: [base] }),
  ];
  const asked: string[] = [];
  const handle: DepotHandle = {
    ...bare.handle,
    run: (args, options) => {
      asked.push(args[0] ?? '');
      return bare.handle.run(args, options);
    },
    treeOf: (id) => {
      asked.push(`tree of ${id}`);
      return bare.handle.treeOf(id);
    },
  };
  const author = { name: 'Ada', email: 'ada@example.com' };
  const land = async (tip: string, theirs: string) => {
    const landed = await landWork(handle, { tip, work: theirs }, { message: 'm', author, at: 0 });
    return 'landed' in landed ? landed.landed : '';
  };
  const first = await land(base, work);
  asked.length = 0;
  const second = await land(first, more);
  expect(asked.filter((what) => what === `tree of ${first}`)).toEqual([]);
  expect(await bare.handle.treeOf(second)).toBe(
    await bare.handle.treeOf(await bare.commit({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' })),
  );

  asked.length = 0;
  for (let i = 0; i < 2; i++) expect(await branchRef(handle, 'troupe/asked-once')).toBe('refs/heads/troupe/asked-once');
  expect(asked).toEqual(['check-ref-format']);

  const name = { team: 'alpha', member: 'ada' };
  const [tree, next] = [await bare.handle.treeOf(work), await bare.handle.treeOf(more)];
  const last = await makeSave(handle, { name, tree, base, last: undefined, at: 0 });
  asked.length = 0;
  await makeSave(handle, { name, tree: next, base, last, at: 1_000 });
  expect(asked).not.toContain('commit-tree');
});
