import { describe, expect, test } from 'vitest';
import { findOpenWork } from '../../src/workspaces/clone/open-work.ts';
import { importHead, makeCommit, writeCommit } from '../../src/workspaces/depot/commit.ts';
import {
  importSave,
  isAncestor,
  isOnTip,
  isWorkOf,
  leaveSave,
  listAllSaves,
  listEarlier,
  listKept,
  listSaves,
  makeSave,
  savesRef,
} from '../../src/workspaces/depot/saves.ts';
import type { Save } from '../../src/workspaces/workspace.ts';
import { openBare } from './bare.ts';
import type { Bare } from './bare.ts';

const ADA = { team: 'alpha', member: 'ada' };
const AT = 1_700_000_000_000;

/** A project of two commits, and what saves files of a member. */
async function openProject(format: 'sha1' | 'sha256' = 'sha1') {
  const bare = await openBare({ format });
  const base = await bare.commit({ 'a.txt': 'a\n' }, { ref: 'refs/heads/main' });
  const tip = await bare.commit({ 'b.txt': 'b\n' }, { ref: 'refs/heads/main', parents: [base] });
  const treeOf = async (files: Record<string, string>, on = base) =>
    bare.handle.treeOf(await bare.commit(files, { parents: [on] }));
  let last: Save | undefined;
  let at = AT;
  const save = async (tree: string, on = base, carries?: string): Promise<Save> =>
    (last = await makeSave(bare.handle, { name: ADA, tree, base: on, last, carries, at: (at += 1_500) }));
  return { ...bare, base, tip, treeOf, save };
}

const commitsOf = (saves: readonly Save[]): string[] => saves.map(({ commit }) => commit);

const parentsOf = async ({ handle }: Bare, id: string): Promise<string[]> =>
  (await handle.run(['rev-list', '--no-walk', '--parents', id])).out.toString().trim().split(' ').slice(1);

describe.for(['sha1', 'sha256'] as const)('saves in a depot of %s', (format) => {
  test('follow each other on one ref: from one base, and on a newer one that has the old', async () => {
    const project = await openProject(format);
    const { handle, base, tip, treeOf, save } = project;
    expect(await listSaves(handle, savesRef(ADA))).toEqual([]);
    const trees = [await treeOf({ x: '1' }), await treeOf({ x: '2' }), await treeOf({ x: '3' }, tip)] as const;
    const one = await save(trees[0]);
    expect(one).toEqual({ commit: one.commit, tree: trees[0], base, at: AT + 1_000 });
    const two = await save(trees[1]);
    const three = await save(trees[2], tip, two.commit);
    const listed = await listSaves(handle, savesRef(ADA));
    expect(listed).toStrictEqual([{ ...three, carries: two.commit }, two, one]);
    expect(await parentsOf(project, one.commit)).toEqual([base]);
    expect(await parentsOf(project, two.commit)).toEqual([one.commit, base]);
    expect(await parentsOf(project, three.commit)).toEqual([two.commit, tip]);
    expect(commitsOf(await listSaves(handle, savesRef(ADA), 2))).toEqual(commitsOf([three, two]));
    expect(commitsOf(await listSaves(handle, savesRef(ADA), 9, two.at + 999))).toEqual(commitsOf([two, one]));
    expect(commitsOf(await listSaves(handle, two.commit))).toEqual(commitsOf([two, one]));
    expect(await listSaves(handle, tip)).toEqual([]);
    // Commits that only look like it.
    const message = `Save of alpha/ada\n\nBase: ${base}`;
    for (const odd of [{ message }, { message: 'Save of alpha/ada', email: 'saves@troupe.invalid' }]) {
      expect(await listSaves(handle, await project.commit({}, { ...odd, parents: [base] }))).toEqual([]);
    }
    // One that does not know the last one is refused.
    const lost = makeSave(handle, { name: ADA, tree: trees[0], base, last: undefined, at: AT });
    await expect(lost).rejects.toMatchObject({ code: 'conflict' });
    expect(await listEarlier(handle, ADA)).toEqual([]);
    expect(commitsOf(await listAllSaves(handle, ADA, 2))).toEqual(commitsOf([three, two]));
  });

  test('that are imported are as those that are made', async () => {
    const { handle, base, treeOf, save } = await openProject(format);
    const last = await save(await treeOf({ x: '1' }));
    const tree = await treeOf({ x: '1', y: '2' });
    const importing = handle.openImport();
    const files = [Buffer.from('M 100644 inline y\ndata 1\n2\n')];
    const imported = await importSave(importing, { name: ADA, last, at: AT + 9_999, files });
    expect(imported).toEqual({ commit: imported.commit, tree, base, at: AT + 9_000 });
    const parents = [last.commit, base];
    const message = `Save of alpha/ada\n\nBase: ${base}`;
    const author = { name: 'ada', email: 'saves@troupe.invalid' };
    const made = { tree, parents, message, author, at: AT + 9_999 };
    expect(await makeCommit(handle, made)).toBe(imported.commit);
    expect(await writeCommit(handle, made)).toBe(imported.commit);
    expect(await listSaves(handle, savesRef(ADA))).toEqual([imported, last]);
  });
});

describe('saves', () => {
  test('begin again from a base that does not have the last one, and those before stay', async () => {
    const project = await openProject();
    const { handle, base, tip, treeOf, save } = project;
    const late = await save(await treeOf({ x: '1' }, tip), tip);
    const early = await save(await treeOf({ y: '1' }), base);
    expect(await parentsOf(project, early.commit)).toEqual([base]);
    expect(await listSaves(handle, savesRef(ADA))).toEqual([early]);
    expect(await listEarlier(handle, ADA)).toEqual([
      { ref: `refs/earlier/alpha/ada/${late.commit}`, commit: late.commit },
    ]);
    const next = await save(await treeOf({ y: '2' }), base);
    expect(commitsOf(await listAllSaves(handle, ADA))).toEqual(commitsOf([next, early, late]));
    expect(commitsOf(await listAllSaves(handle, ADA, 2))).toEqual(commitsOf([next, early]));
    const old = await makeSave(handle, { name: ADA, tree: await treeOf({ y: '3' }), base, last: next, at: AT });
    expect(commitsOf(await listAllSaves(handle, ADA))).toEqual(commitsOf([next, early, late, old]));
    // Of another member whose name begins in the same way.
    expect(await listEarlier(handle, { team: 'alpha', member: 'ad' })).toEqual([]);
  });

  test('that a folder goes on without stay, but no base, and none of Troupe itself', async () => {
    const { handle, base, treeOf, save } = await openProject();
    const one = await save(await treeOf({ x: '1' }));
    await leaveSave(handle, ADA, { ...one, commit: base });
    await leaveSave(handle, { team: 'alpha', member: '@landing' }, one);
    expect(await listEarlier(handle, ADA)).toEqual([]);
    await leaveSave(handle, ADA, one);
    expect(await listEarlier(handle, ADA)).toEqual([
      { ref: `refs/earlier/alpha/ada/${one.commit}`, commit: one.commit },
    ]);
    expect((await handle.run(['for-each-ref', 'refs/earlier/alpha/@landing'])).out.toString()).toBe('');
  });

  test('and commits on the branch that came from elsewhere are work of the team, and nothing else is', async () => {
    const { handle, base, tip, treeOf, save, commit } = await openProject();
    const one = await save(await treeOf({ x: '1' }));
    const travel = { email: 'works@troupe.invalid' };
    const onBranch = await commit({ y: '1' }, { ...travel, parents: [base] });
    const merged = await commit({ y: '1' }, { ...travel, parents: [base, tip] });
    const ofAnybody = await commit({ y: '1' }, { parents: [base] });
    const sayingSo = await commit(
      { y: '1' },
      { parents: [base], message: 'x <saves@troupe.invalid> \n\nSave of alpha/x' },
    );
    const is = (id: string, team = 'alpha', branch = [base]) => isWorkOf(handle, id, { team, branch: new Set(branch) });
    expect(await is(one.commit)).toBe(true);
    expect(await is(one.commit, 'alph')).toBe(false);
    expect(await is(one.commit, 'beta')).toBe(false);
    expect(await is(onBranch)).toBe(true);
    expect(await is(onBranch, 'alpha', [tip])).toBe(false);
    expect(await is(merged)).toBe(false);
    expect(await is(merged, 'alpha', [base, tip])).toBe(true);
    expect(await is(ofAnybody)).toBe(false);
    expect(await is(sayingSo)).toBe(false);
    expect(await is('1'.repeat(40))).toBe(false);
    expect(await is(await handle.treeOf(base))).toBe(false);
  });

  test('are on a tip that has all that they changed, in whatever form', async () => {
    const { handle, base, treeOf, save, commit } = await openProject();
    const one = await save(await treeOf({ 'a.txt': 'changed\n', new: 'n\n' }));
    const squashed = await commit({ 'a.txt': 'changed\n', new: 'n\n', other: 'o\n' }, { parents: [base] });
    const half = await commit({ 'a.txt': 'changed\n' }, { parents: [base] });
    expect(await isOnTip(handle, one, squashed)).toBe(true);
    expect(await isOnTip(handle, one, half)).toBe(false);
    expect(await isOnTip(handle, one, base)).toBe(false);
    await expect(isOnTip(handle, one, 'HEAD')).rejects.toMatchObject({ code: 'invalid' });
    expect(await isAncestor(handle, base, half)).toBe(true);
    expect(await isAncestor(handle, half, base)).toBe(false);
    expect(await isAncestor(handle, half, half)).toBe(true);
  });

  test('are kept by their last one while work of any base is open; nothing keeps what landed', async () => {
    const { handle, base, tip, treeOf, save } = await openProject();
    const first = await save(await treeOf({ x: '1' }));
    const second = await save(await treeOf({ x: '2' }));
    const third = await save(await treeOf({ 'c.txt': 'c' }, tip), tip);
    const fourth = await save(await treeOf({ 'b.txt': 'b\n' }), base);
    const ref = savesRef(ADA);
    const open = async (landed: readonly string[] = [], ends = [{ ref, commit: third.commit }]) =>
      commitsOf(await findOpenWork(handle, ends, { tip, landed }));
    expect(await open()).toEqual([third.commit]);
    // What was not landed from the older base is behind it.
    expect(await open([third.commit])).toEqual([third.commit]);
    expect(await open([third.commit, first.commit])).toEqual([third.commit]);
    expect(await open([third.commit, second.commit])).toEqual([]);
    // The fourth has nothing that the tip does not have.
    expect(await open([], [{ ref, commit: fourth.commit }])).toEqual([]);
    const both = [
      { ref, commit: third.commit },
      { ref: 'refs/earlier/x', commit: second.commit },
    ];
    expect(await open([third.commit], both)).toEqual([second.commit]);
    expect(await open([], [...both, both[0]!])).toEqual([third.commit, second.commit]);
  });

  test('whose work went on in a later one count there', async () => {
    const { handle, tip, treeOf, save } = await openProject();
    const first = await save(await treeOf({ x: '1' }));
    const carrying = await save(await treeOf({ x: '1', y: '2' }, tip), tip, first.commit);
    const ends = [{ ref: savesRef(ADA), commit: carrying.commit }];
    expect(await findOpenWork(handle, ends, { tip, landed: [carrying.commit] })).toEqual([]);
    expect(commitsOf(await findOpenWork(handle, ends, { tip, landed: [first.commit] }))).toEqual([carrying.commit]);
  });

  test('that were put away are listed newest first, and refs that are none of ours are not', async () => {
    const { handle, base, treeOf, save } = await openProject();
    const saves = [];
    for (const x of ['1', '2', '3']) saves.push(await save(await treeOf({ x })));
    const [one, two, three] = saves as [Save, Save, Save];
    const ref = (member: string, { commit }: Save) => `refs/kept/alpha/${member}/${commit}`;
    await handle.changeRefs([
      { ref: ref('ada', two), to: two.commit },
      { ref: ref('bob', three), to: three.commit },
      { ref: ref('cid', one), to: one.commit },
      { ref: 'refs/kept/alpha/ada/plain', to: base },
      { ref: 'refs/kept/odd', to: one.commit },
    ]);
    expect(await listKept(handle)).toEqual([
      { ...three, team: 'alpha', member: 'bob', ref: ref('bob', three) },
      { ...two, team: 'alpha', member: 'ada', ref: ref('ada', two) },
      { ...one, team: 'alpha', member: 'cid', ref: ref('cid', one) },
    ]);
  });
});

describe('a commit', () => {
  test('has its message, its trailers on one line each, and names that git takes', async () => {
    const { handle, base } = await openProject();
    const tree = await handle.treeOf(base);
    const show = async (id: string) => (await handle.run(['cat-file', 'commit', id])).out.toString();
    const author = { name: '> Ada <of>\n Alpha ', email: '<ada@example.com>' };
    const plain = { tree, parents: [base], message: '\nTitle\n\nBody \n', author, at: AT + 999 };
    const head = `tree ${tree}\nparent ${base}\nauthor Ada of Alpha <ada@example.com> 1700000000 +0000\n`;
    expect(await show(await makeCommit(handle, plain))).toBe(
      `${head}committer Ada of Alpha <ada@example.com> 1700000000 +0000\n\nTitle\n\nBody\n`,
    );
    const trailers = [
      ['Task-Id', ' 7\n8 '],
      ['Team', 'alpha'],
    ] as const;
    const committer = { name: '> <', email: '' };
    expect(await show(await makeCommit(handle, { ...plain, trailers, committer }))).toBe(
      `${head}committer committer <> 1700000000 +0000\n\nTitle\n\nBody\n\nTask-Id: 7 8\nTeam: alpha\n`,
    );
    const nameless = { ...plain, author: { name: '', email: '' } };
    expect(await show(await makeCommit(handle, nameless))).toContain('\nauthor author <> 17');
    await expect(makeCommit(handle, { ...plain, message: 'a\0b' })).rejects.toMatchObject({ code: 'invalid' });
    expect(importHead('refs/x', { ...nameless, parents: [base, tree] })).toBe(
      `commit refs/x\nmark :1\nauthor author <> 1700000000 +0000\ncommitter committer <> 1700000000 +0000\ndata 12\nTitle\n\nBody\nfrom ${base}\nmerge ${tree}\n`,
    );
  });
});
