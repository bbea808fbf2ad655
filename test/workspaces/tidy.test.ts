import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { removingDrafts } from '../../src/workspaces/depot/drafts.ts';
import { mergeSmallPacks } from '../../src/workspaces/depot/small-packs.ts';
import { isLoose, isPrunable, keepPrecious, packDepot, pruneDepot } from '../../src/workspaces/depot/tidy.ts';
import { openGit } from '../../src/workspaces/git.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openBare } from './bare.ts';
import type { Bare } from './bare.ts';
import { write } from './project.ts';

const has = async ({ handle }: Bare, id: string): Promise<boolean> =>
  (await handle.run(['cat-file', '-e', id], { exits: [0, 1] })).code === 0;

const packsOf = ({ dir }: Bare, end = '.pack'): string[] =>
  readdirSync(join(dir, 'objects/pack')).filter((name) => name.endsWith(end));

const looseOf = ({ dir }: Bare): string[] =>
  readdirSync(join(dir, 'objects')).filter((name) => /^[0-9a-f]{2}$/.test(name));

const writeBlob = async ({ handle }: Bare, input: string): Promise<string> =>
  (await handle.run(['hash-object', '-w', '--stdin'], { input })).out.toString().trim();

const preciousIn = ({ dir }: Bare): string[] =>
  readFileSync(join(dir, 'config'), 'utf8')
    .split('\n')
    .filter((line) => /preciousObjects/i.test(line))
    .map((line) => line.trim());

describe('a depot', () => {
  test('is packed: objects and refs are in few files, and nothing is lost', async () => {
    const bare = await openBare();
    const { dir, handle, commit } = bare;
    const base = await commit({ 'a.txt': 'a\n' }, { ref: 'refs/heads/main' });
    const next = await commit({ 'a.txt': 'b\n' }, { ref: 'refs/heads/main', parents: [base] });
    const unnamed = await writeBlob(bare, 'in no commit\n');
    expect(looseOf(bare).length).toBeGreaterThan(3);
    await packDepot(handle);
    expect(packsOf(bare)).toHaveLength(1);
    expect(looseOf(bare)).toEqual([unnamed.slice(0, 2)]);
    expect(existsSync(join(dir, 'refs/heads/main'))).toBe(false);
    expect(await handle.readRef('refs/heads/main')).toBe(next);
    expect(await has(bare, unnamed)).toBe(true);
    // Again, with what is new.
    await commit({ 'a.txt': 'c\n' }, { ref: 'refs/heads/main', parents: [next] });
    await packDepot(handle);
    expect(packsOf(bare)).toHaveLength(2);
    expect((await handle.run(['fsck', '--full', '--no-dangling'])).out.toString()).toBe('');
  });

  test('loses what no ref leads to since a moment, keeps packs of the user as they are, and is guarded again', async () => {
    const bare = await openBare();
    const { dir, handle, commit } = bare;
    await keepPrecious(handle);
    const base = await commit({ 'a.txt': 'a\n' }, { ref: 'refs/heads/main' });
    await packDepot(handle);
    const [shared = ''] = packsOf(bare);
    for (const end of ['pack', 'idx']) {
      linkSync(join(dir, 'objects/pack', shared.replace(/pack$/, end)), join(dir, `of-the-user.${end}`));
    }
    const next = await commit({ 'a.txt': 'b\n' }, { ref: 'refs/heads/main', parents: [base] });
    const gone = await commit({ 'a.txt': 'c\n' }, { ref: 'refs/heads/gone', parents: [base] });
    const old = await writeBlob(bare, 'old\n');
    const hour = 3_600_000;
    const now = Date.now();
    // Written two hours ago.
    for (const folder of looseOf(bare)) {
      for (const name of readdirSync(join(dir, 'objects', folder))) {
        utimesSync(join(dir, 'objects', folder, name), new Date(now - 2 * hour), new Date(now - 2 * hour));
      }
    }
    const young = await writeBlob(bare, 'young\n');
    expect(await isPrunable(handle)).toBe(true);
    await handle.changeRefs([{ ref: 'refs/heads/gone', to: undefined }]);
    await pruneDepot(handle, now - hour);
    expect(await Promise.all([base, next, young, gone, old].map((id) => has(bare, id)))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(packsOf(bare)).toContain(shared);
    expect(statSync(join(dir, 'of-the-user.idx')).size).toBeGreaterThan(0);
    expect(existsSync(join(dir, 'objects/pack', shared.replace(/pack$/, 'keep')))).toBe(true);
    expect(packsOf(bare, '.keep')).toHaveLength(1);
    // What the user has is in no second pack.
    expect(packsOf(bare)).toHaveLength(2);
    expect(existsSync(join(dir, 'refs/heads/main'))).toBe(false);
    expect(preciousIn(bare)).toEqual(['preciousObjects = true']);

    await pruneDepot(handle, now + hour);
    expect(await has(bare, young)).toBe(false);
    expect(await isPrunable(handle)).toBe(false);
    await handle.changeRefs([{ ref: 'refs/heads/other', to: base }]);
    expect(await isPrunable(handle)).toBe(true);
    await handle.changeRefs([{ ref: 'refs/heads/other', to: undefined }]);
    expect(await isPrunable(handle)).toBe(false);
  });

  test('that cannot be pruned is still guarded', async () => {
    const bare = await openBare();
    const base = await bare.commit({ 'a.txt': 'a\n' }, { ref: 'refs/heads/main' });
    rmSync(join(bare.dir, 'objects', base.slice(0, 2), base.slice(2)));
    await expect(pruneDepot(bare.handle, Date.now())).rejects.toMatchObject({ code: 'corrupt' });
    expect(preciousIn(bare)).toEqual(['preciousObjects = true']);
    expect(existsSync(join(bare.dir, 'pruned'))).toBe(false);
  });

  test('is worth packing with more than 2,000 loose objects', async () => {
    const { dir, handle } = await openBare();
    const names = Array.from({ length: 2_000 }, (_, at) => `objects/12/${at.toString(16).padStart(38, '0')}`);
    mkdirSync(join(dir, 'objects/12'));
    for (const name of names) writeFileSync(join(dir, name), '');
    expect(await isLoose(handle)).toBe(false);
    writeFileSync(join(dir, `objects/12/${'f'.repeat(38)}`), '');
    expect(await isLoose(handle)).toBe(true);
  });
});

/** Makes packs, each with a file of so many random bytes. Git starts once. */
async function makePacks({ handle }: Bare, sizes: readonly number[]): Promise<void> {
  const parts = sizes.flatMap((size, at) => {
    const text = Array.from({ length: size / 32 }, (_, i) =>
      Math.sin(at * 1e5 + i)
        .toString(36)
        .padEnd(32, '.')
        .slice(-32),
    ).join('');
    return [
      `commit refs/heads/main\ncommitter A <a> 0 +0000\ndata 1\nx\nM 100644 inline f${at}\ndata ${text.length}\n${text}\ncheckpoint\n`,
    ];
  });
  await handle.run(['fast-import', '--quiet', '--force', '--done'], {
    input: `${parts.join('')}done\n`,
    config: ['fastimport.unpackLimit=1'],
  });
}

describe('small packs', () => {
  test('become one if there are more than 24, and every object is still there', async () => {
    const bare = await openBare();
    const { dir, handle } = bare;
    await makePacks(bare, Array<number>(24).fill(64));
    const before = packsOf(bare);
    expect(before).toHaveLength(24);
    await mergeSmallPacks(handle);
    expect(packsOf(bare)).toEqual(before);

    await makePacks(bare, [96]);
    await mergeSmallPacks(handle);
    const [one = '', ...others] = packsOf(bare);
    expect(others).toEqual([]);
    const files = ['idx', 'pack'].map((end) => one.replace(/pack$/, end)).sort();
    expect(
      readdirSync(join(dir, 'objects/pack'))
        .filter((name) => !name.endsWith('.rev'))
        .sort(),
    ).toEqual(files);
    expect((await handle.run(['fsck', '--full', '--no-dangling'])).out.toString()).toBe('');
    await mergeSmallPacks(handle);
    expect(packsOf(bare)).toEqual([one]);
  });

  test('are merged without the large ones, those of the user, and those that are not whole', async () => {
    const bare = await openBare();
    const { dir, handle } = bare;
    const folder = join(dir, 'objects/pack');
    await makePacks(bare, [...Array<number>(25).fill(64), 640_000]);
    const bySize = packsOf(bare).sort((a, b) => statSync(join(folder, b)).size - statSync(join(folder, a)).size);
    const [large = '', linked = '', promised = ''] = bySize;
    linkSync(join(folder, linked), join(dir, 'of-the-user'));
    writeFileSync(join(folder, promised.replace(/pack$/, 'promisor')), '');
    // An index without its pack, as a killed program leaves it.
    writeFileSync(join(folder, `pack-${'0'.repeat(40)}.idx`), '');
    // 24 count: these three do not, or stay.
    await mergeSmallPacks(handle);
    expect(packsOf(bare)).toHaveLength(26);
    rmSync(join(folder, `pack-${'0'.repeat(40)}.idx`));
    await makePacks(bare, [96]);
    await Promise.all([mergeSmallPacks(handle), mergeSmallPacks(handle)]);
    expect(packsOf(bare)).toHaveLength(4);
    expect(packsOf(bare)).toEqual(expect.arrayContaining([large, linked, promised]));
    expect((await handle.run(['fsck', '--full', '--no-dangling'])).out.toString()).toBe('');
  });

  test('of several sizes are merged in part: each that stays is larger than twice all smaller ones', async () => {
    const bare = await openBare();
    const folder = join(bare.dir, 'objects/pack');
    // Twelve at least go together. The next is much larger, and so are those after it.
    await makePacks(bare, [
      ...Array<number>(12).fill(64),
      ...Array.from({ length: 13 }, (_, at) => 3_200 * 3 ** Math.min(at, 4)),
    ]);
    const sizes = (): number[] =>
      packsOf(bare)
        .map((name) => statSync(join(folder, name)).size)
        .sort((a, b) => a - b);
    const before = sizes();
    expect(before).toHaveLength(25);
    await mergeSmallPacks(bare.handle);
    const after = sizes();
    expect(after.length).toBeLessThan(5);
    expect((await bare.handle.run(['fsck', '--full', '--no-dangling'])).out.toString()).toBe('');
  });
});

test('half-written packs of a command that failed go when nothing runs in the depot any more', async () => {
  const root = temporaryFolder();
  const program = join(root, 'git');
  const script = '#!/bin/sh\ncase "$*" in *fail*) exit 1;; *wait*) while test ! -e go; do sleep 0.01; done;; esac\n';
  writeFileSync(program, script, { mode: 0o755 });
  const [dir, other] = [join(root, 'a.git'), join(root, 'b.git')];
  const names = ['tmp_pack_1', 'tmp_idx_1', 'tmp_rev_1', 'tmp_objdir-1', 'pack-1.pack'];
  const litter = () =>
    write(
      root,
      Object.fromEntries(['a', 'b'].flatMap((at) => names.map((name) => [`${at}.git/objects/pack/${name}`, 'x']))),
    );
  const left = (at: string): string[] => readdirSync(join(at, 'objects/pack')).sort();
  litter();
  const git = removingDrafts(openGit({ environment: { PATH: process.env['PATH'] }, program }), dir);
  await git.run({ dir }, ['works']);
  await expect(git.run({ dir: other }, ['fail'])).rejects.toThrow();
  expect(left(dir)).toEqual(names.toSorted());
  const waiting = git.run({ dir }, ['wait']);
  await expect(git.run({ dir }, ['fail'])).rejects.toThrow();
  await git.run({ dir }, ['works']);
  expect(left(dir)).toEqual(names.toSorted());
  writeFileSync(join(dir, 'go'), '');
  await waiting;
  expect(left(dir)).toEqual(['pack-1.pack', 'tmp_objdir-1']);
  expect(left(other)).toEqual(names.toSorted());
  // That failure is over.
  litter();
  await git.run({ dir }, ['works']);
  expect(left(dir)).toEqual(names.toSorted());
  rmSync(join(dir, 'objects'), { recursive: true });
  await expect(git.run({ dir }, ['fail'])).rejects.toMatchObject({ code: 'storage' });
});
