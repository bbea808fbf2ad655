import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findConflicts } from '../../src/workspaces/depot/conflicts.ts';
import { branchRef, landWork, mergeCommits, placedRef, readConflicts } from '../../src/workspaces/depot/merge.ts';
import { findCommits, findRoots, flattenSave, hashOf, makePack, takePack } from '../../src/workspaces/depot/packs.ts';
import { findRefused, isChecked } from '../../src/workspaces/depot/refused.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openBare } from './bare.ts';
import type { Bare } from './bare.ts';

const AUTHOR = { name: 'Ada', email: 'ada@example.com' };
const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';

/** A base and three works on it: the first two conflict, the third merges with both. */
async function openWorks(options: Parameters<typeof openBare>[0] = {}) {
  const bare = await openBare(options);
  const { commit } = bare;
  const base = await commit({ 'a.txt': LINES, 'b.txt': 'b\n' }, { ref: 'refs/heads/main' });
  const on = { parents: [base] };
  const first = await commit({ 'a.txt': LINES.replace('two', 'TWO'), 'b.txt': undefined }, on);
  const second = await commit({ 'a.txt': LINES.replace('two', '2'), 'b.txt': 'B\n' }, on);
  const third = await commit({ 'a.txt': LINES.replace('seven', 'SEVEN'), 'c.txt': 'c\n' }, on);
  return { ...bare, base, first, second, third };
}

const show = async ({ handle }: Bare, what: string): Promise<string> =>
  (await handle.run(['cat-file', '-p', what])).out.toString();

describe('a merge in memory', () => {
  test('has the changes of both, or names each path that conflicts, with its sides', async () => {
    const works = await openWorks();
    const { handle, base, first, second, third } = works;
    const { tree, conflicts } = await mergeCommits(handle, [first, third]);
    expect(conflicts).toEqual([]);
    expect(await show(works, `${tree}:a.txt`)).toBe(LINES.replace('two', 'TWO').replace('seven', 'SEVEN'));
    const found = await mergeCommits(handle, [first, second]);
    const blob = async (commit: string, path: string) =>
      (await handle.run(['rev-parse', `${commit}:${path}`])).out.toString().trim();
    expect(found.conflicts).toEqual([
      {
        path: 'a.txt',
        kinds: ['contents'],
        stages: {
          base: await blob(base, 'a.txt'),
          ours: await blob(first, 'a.txt'),
          theirs: await blob(second, 'a.txt'),
        },
      },
      {
        path: 'b.txt',
        kinds: ['modify/delete'],
        stages: { base: await blob(base, 'b.txt'), theirs: await blob(second, 'b.txt') },
      },
    ]);
    expect(await show(works, `${found.tree}:a.txt`)).toMatch(
      /^one\n<{7} .*\nTWO\n\|{7} .*\ntwo\n={7}\n2\n>{7} .*\nthree/,
    );
    const gone = '1'.repeat(40);
    await expect(mergeCommits(handle, [gone, first])).rejects.toMatchObject({
      code: 'not_found',
      message: `Cannot merge ${first} into ${gone}: one of them is not whole in the depot`,
    });
    await expect(mergeCommits(handle, ['HEAD', first])).rejects.toMatchObject({ code: 'invalid' });
  });

  test('counts from a named base, also if the first does not descend from it', async () => {
    const works = await openWorks();
    const { handle, commit, base, first, third } = works;
    // The third on top of the second's files: from there on, only its own change counts.
    const later = await commit({ 'd.txt': 'd\n' }, { parents: [third] });
    const merged = await mergeCommits(handle, [first, later], { base: third });
    expect(merged.conflicts).toEqual([]);
    expect((await handle.run(['ls-tree', '--name-only', merged.tree])).out.toString()).toBe('a.txt\nd.txt\n');
    const usual = await mergeCommits(handle, [first, later], { base });
    expect((await handle.run(['ls-tree', '--name-only', usual.tree])).out.toString()).toBe('a.txt\nc.txt\nd.txt\n');
  });

  test('that finds an object damaged is no conflict', async () => {
    const { handle, dir, base, commit } = await openWorks();
    const lost = await commit({ 'a.txt': 'x\n' }, { parents: [base] });
    const other = await commit({ 'a.txt': 'y\n' }, { parents: [base] });
    const blob = (await handle.run(['rev-parse', `${lost}:a.txt`])).out.toString().trim();
    const path = join(dir, 'objects', blob.slice(0, 2), blob.slice(2));
    await handle.run(['prune-packed']);
    writeFileSync(`${path}-`, '');
    renameSync(`${path}-`, path);
    await expect(mergeCommits(handle, [lost, other])).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('is read from what git says, in whatever form it says it', () => {
    const parts = (...texts: string[]) => texts.map((text) => Buffer.from(text));
    const entry = (stage: number, path: string) => `100644 ${String(stage).repeat(40)} ${stage}\t${path}`;
    expect(readConflicts([])).toEqual([]);
    expect(readConflicts(parts(entry(1, 'x'), entry(3, 'x')))).toEqual([
      { path: 'x', kinds: [], stages: { base: '1'.repeat(40), theirs: '3'.repeat(40) } },
    ]);
    expect(
      readConflicts(
        parts(
          entry(2, 'a\tb'),
          entry(0, 'merged'),
          '',
          '1',
          'auto',
          'Auto-merging',
          'Auto-merging auto\n',
          '2',
          'x',
          'y',
          'CONFLICT (rename/rename)',
          'text\n',
          '1',
          'x',
          'CONFLICT (contents)',
          'text\n',
          '1',
          'z',
          'Auto-merging',
          'looks like 1\tan entry\n',
          '1',
          'z',
          'CONFLICT(directory rename unclear split)',
          'text\n',
        ),
      ),
    ).toEqual([
      { path: 'a\tb', kinds: [], stages: { ours: '2'.repeat(40) } },
      { path: 'x', kinds: ['rename/rename', 'contents'], stages: {} },
      { path: 'y', kinds: ['rename/rename'], stages: {} },
      { path: 'z', kinds: ['directory rename unclear split'], stages: {} },
    ]);
    expect(readConflicts(parts('', 'odd', 'x', 'CONFLICT (contents)', ''))).toEqual([]);
  });

  test('of many pairs leaves nothing behind, and fails for a commit that is not there', async () => {
    const works = await openWorks();
    const { handle, places, dir, base, first, second, third } = works;
    const objects = () => readdirSync(join(dir, 'objects'), { recursive: true }).length;
    const before = objects();
    expect(
      await findConflicts(handle, places, [
        [first, second],
        [third, third],
        [base, first],
        [second, first],
      ]),
    ).toEqual([['a.txt', 'b.txt'], [], [], ['a.txt', 'b.txt']]);
    expect(await findConflicts(handle, places, [])).toEqual([]);
    await expect(
      findConflicts(handle, places, [
        [first, second],
        [first, '1'.repeat(40)],
      ]),
    ).rejects.toMatchObject({ code: 'not_found' });
    await expect(
      findConflicts(handle, places, [[first, second]], AbortSignal.abort(new Error('enough'))),
    ).rejects.toThrow('enough');
    expect(objects()).toBe(before);
    expect(readdirSync(places.making)).toEqual([]);
  });
});

/** A git whose command of this name says something else, and ends with a code. */
function openSaying() {
  const program = join(temporaryFolder(), 'git');
  const script = [
    '#!/bin/sh',
    'case " $* " in',
    '  *" --version "*) test -e "$0.version" && exec cat "$0.version";;',
    '  *" $(cat "$0.command" 2>/dev/null || echo none) "*) cat "$0.out"; cat "$0.err" >&2; exit $(cat "$0.code");;',
    'esac',
    'exec git "$@"',
  ];
  writeFileSync(program, `${script.join('\n')}\n`, { mode: 0o755 });
  return {
    program,
    isVersion: (version: string) => writeFileSync(`${program}.version`, `git version ${version}\n`),
    says: (command: string, { out = '', err = '', code = 0 }: { out?: string; err?: string; code?: number }) => {
      for (const [name, text] of Object.entries({ command, out, err, code })) {
        writeFileSync(`${program}.${name}`, `${text}`);
      }
    },
  };
}

describe('what newer versions of git say of many merges', () => {
  const id = '1'.repeat(40);
  // As git 2.47.3 says it.
  const conflict = [
    '0',
    id,
    `100644 ${id} 1\ta`,
    `100644 ${id} 2\ta`,
    `100644 ${id} 3\ta`,
    `100644 ${id} 1\tb`,
    `100644 ${id} 3\tb`,
    '',
    '1',
    'a',
    'Auto-merging',
    'Auto-merging a\n',
    '1',
    'a',
    'CONFLICT (contents)',
    'CONFLICT (content): Merge conflict in a\n',
    '1',
    'b',
    'CONFLICT (modify/delete)',
    'CONFLICT (modify/delete): b deleted\n',
    '',
  ].map((part) => `${part}\0`);
  const clean = ['1', id, '', ''].map((part) => `${part}\0`);

  test.for(['2.40.0', '2.47.3', '3.0.1'])(
    'is taken from git %s, and what it leaves out is merged one by one',
    async (version) => {
      const { program, isVersion, says } = openSaying();
      const { handle, places, base, first, second, third } = await openWorks({ program });
      isVersion(version);
      const find = (pairs: [string, string][]) => findConflicts(handle, places, pairs);
      says('--stdin', { out: [...conflict, ...clean, ...conflict].join(''), code: 1 });
      expect(
        await find([
          [first, second],
          [third, third],
          [base, first],
        ]),
      ).toEqual([['a', 'b'], [], ['a', 'b']]);
      // More than was asked for.
      expect(await find([[first, second]])).toEqual([['a', 'b']]);
      if (version !== '2.40.0') return;
      for (const parts of [
        clean,
        [...clean, ...conflict.slice(0, 4)],
        [...clean, ...conflict.slice(0, 13)],
        [...clean, ...conflict.slice(0, -1)],
      ]) {
        says('--stdin', { out: parts.join(''), code: 128 });
        expect(
          await find([
            [first, second],
            [first, second],
          ]),
        ).toEqual([[], ['a.txt', 'b.txt']]);
      }
      says('--stdin', { code: 7 });
      await expect(find([[first, second]])).rejects.toMatchObject({ code: 'storage' });
    },
  );

  test('is not asked of older ones', async () => {
    const { program, isVersion, says } = openSaying();
    const { handle, places, first, second } = await openWorks({ program });
    isVersion('2.39.9');
    says('--stdin', { code: 7 });
    expect(await findConflicts(handle, places, [[first, second]])).toEqual([['a.txt', 'b.txt']]);
  });
});

describe('work that lands', () => {
  test('is one commit on the tip, a merge if its history is kept, and the tip itself if it adds nothing', async () => {
    const works = await openWorks();
    const { handle, base, first, second, third } = works;
    const commit = { message: 'Land', author: AUTHOR, at: 1_700_000_000_000 };
    const parents = async (id: string) =>
      (await show(works, id)).split('\n').flatMap((line) => /^parent (\w+)/.exec(line)?.[1] ?? []);
    const landed = async (what: Parameters<typeof landWork>[1]): Promise<string> => {
      const made = await landWork(handle, what, commit);
      if (!('landed' in made)) throw new Error('It conflicts');
      expect(made.tree).toBe(await handle.treeOf(made.landed));
      return made.landed;
    };
    const one = await landed({ tip: base, work: first });
    expect(await parents(one)).toEqual([base]);
    const two = await landed({ tip: one, work: third });
    expect(await parents(two)).toEqual([one]);
    expect(await landed({ tip: two, work: first })).toBe(two);
    expect(await landed({ tip: two, work: base })).toBe(two);
    expect(await parents(await landed({ tip: base, work: third, history: 'keep' }))).toEqual([base, third]);
    const refused = await landWork(handle, { tip: one, work: second }, commit);
    expect(refused).toMatchObject({ conflicts: [{ path: 'a.txt' }, { path: 'b.txt' }], tree: expect.any(String) });
    expect(refused).not.toHaveProperty('landed');
    // From the third on, the work has changed nothing.
    expect(await landed({ tip: one, work: third, base: third })).toBe(one);
  });

  test('goes to a branch with a name that git and the disk take', async () => {
    const { handle } = await openBare();
    const name = `troupe/${randomUUID()}`;
    expect(await branchRef(handle, name)).toBe(`refs/heads/${name}`);
    expect(await branchRef(handle, name)).toBe(`refs/heads/${name}`);
    expect(placedRef('troupe/parser')).toBe('refs/placed/troupe/parser');
    const fits = `${'ä'.repeat(125)}/${randomUUID().padEnd(250, 'b')}`;
    expect(await branchRef(handle, fits)).toBe(`refs/heads/${fits}`);
    for (const name of ['-x', 'a..b', 'a b', '', 'x.lock', `a/${'b'.repeat(251)}`, `${'ä'.repeat(126)}/b`]) {
      await expect(branchRef(handle, name)).rejects.toMatchObject({ code: 'invalid' });
    }
  });
});

describe('a pack', () => {
  test('brings what its receiver lacks, and the receiver can do without the rest', async () => {
    const here = await openWorks();
    const there = await openBare();
    const { handle, commit } = here;
    const base = await commit({ 'd.txt': 'd\n' }, { parents: [here.base] });
    const [first, third] = [
      await commit({ 'a.txt': LINES.replace('two', 'TWO') }, { parents: [base] }),
      await commit({ 'c.txt': 'c\n' }, { parents: [base] }),
    ];
    const bytes = await makePack(handle, { want: [base], isFirst: true });
    await takePack(there.handle, there.places, { bytes, hash: hashOf(bytes), want: [base], isFirst: true });
    expect((await there.handle.run(['rev-list', base])).out.toString()).toBe(`${base}\n`);
    expect(readFileSync(join(there.dir, 'shallow'), 'utf8')).toBe(`${base}\n`);
    expect(await findCommits(there.handle, [here.base, base, await handle.treeOf(base)])).toEqual([base]);
    // Of what its receiver has, only what is here counts.
    const work = await makePack(handle, { want: [first], have: [base, '1'.repeat(40)] });
    const whole = await makePack(handle, { want: [first] });
    expect(work.length).toBeLessThan(whole.length);
    await takePack(there.handle, there.places, { bytes: work, hash: hashOf(work), want: [first] });
    expect(await show(there, `${first}:a.txt`)).toContain('TWO');
    const taken = readdirSync(join(there.dir, 'objects/pack')).sort();
    expect(taken.filter((name) => name.endsWith('.pack'))).toHaveLength(2);
    const message = (why: RegExp) => ({ code: 'corrupt', message: expect.stringMatching(why) });
    const other = await makePack(handle, { want: [third], have: [base] });
    const short = third.slice(0, 7);
    await expect(
      takePack(there.handle, there.places, { bytes: other, hash: hashOf(work), want: [third] }),
    ).rejects.toMatchObject(message(new RegExp(`^The pack with ${short} was not taken in, .*SHA-256 ${hashOf(work)}`)));
    await expect(
      takePack(there.handle, there.places, {
        bytes: other.subarray(0, 50),
        hash: hashOf(other.subarray(0, 50)),
        want: [third, first],
      }),
    ).rejects.toMatchObject(message(new RegExp(`${short}, ${first.slice(0, 7)} .*git refuses it`)));
    await expect(
      takePack(there.handle, there.places, { bytes: work, hash: hashOf(work), want: [third] }),
    ).rejects.toMatchObject(message(/git refuses it/));
    expect(readdirSync(join(there.dir, 'objects/pack')).sort()).toEqual(taken);
    expect(readdirSync(there.places.making)).toEqual([]);
    expect(readFileSync(join(there.dir, 'shallow'), 'utf8')).toBe(`${base}\n`);
    await expect(makePack(handle, { want: ['1'.repeat(40)] })).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('that a full disk or a killed git does not take is no bad pack', async () => {
    const { program, says } = openSaying();
    const { handle, places, first, commit } = await openWorks({ program });
    const bytes = await makePack(handle, { want: [first] });
    const take = () => takePack(handle, places, { bytes, hash: hashOf(bytes), want: [first] });
    says('index-pack', { err: 'fatal: write error: No space left on device\n', code: 128 });
    await expect(take()).rejects.toMatchObject({ code: 'storage', facts: { errno: 'ENOSPC' } });
    says('index-pack', { code: 3 });
    await expect(take()).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringContaining('it ended with 3'),
    });
    says('index-pack', { err: 'one\ntwo\nthree\n\n', code: 128 });
    await expect(take()).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(/: git refuses it: two; three$/),
    });
    // Neither is a file that git could not look at one that others refuse.
    says('mktree', { err: 'fatal: odd\n', code: 128 });
    const bad = await commit({ '.gitmodules': '[x]\n' }, { parents: [first] });
    await expect(findRefused(handle, places, [first, bad])).rejects.toMatchObject({ code: 'storage' });
    expect(readdirSync(places.making)).toEqual([]);
  });

  test('of a save has its files on its base, the same each time, without the saves before it', async () => {
    const works = await openWorks();
    const { handle, base, first, commit } = works;
    const save = await commit({ 'z.txt': 'z\n' }, { parents: [first], at: 1_700_000_123 });
    const flat = await flattenSave(handle, { commit: save, base, name: 'alpha/ada' });
    expect(await flattenSave(handle, { commit: save, base, name: 'alpha/ada' })).toBe(flat);
    expect(await show(works, flat)).toBe(
      `tree ${await handle.treeOf(save)}\nparent ${base}\nauthor alpha/ada <works@troupe.invalid> 1700000123 +0000\n` +
        'committer alpha/ada <works@troupe.invalid> 1700000123 +0000\n\nWork of alpha/ada\n',
    );
    const root = await commit({ 'x.txt': 'x\n' });
    const merged = await commit({}, { parents: [first, root] });
    expect(await findRoots(handle, first)).toEqual([base]);
    expect(await findRoots(handle, merged)).toEqual([base, root].sort());
  });
});

describe('files whose content git checks', () => {
  test('are told by their names on any system', () => {
    for (const path of [
      '.gitmodules',
      'a/.gitattributes',
      '.GITMODULES',
      'a/GITMOD~1',
      'gi7eba~1',
      '.git\u200cmodules',
    ]) {
      expect(isChecked(path), path).toBe(true);
    }
    for (const path of ['gitmodules', '.gitignore', 'a/.gitmodules/b', 'git~x']) {
      expect(isChecked(path), path).toBe(false);
    }
  });

  test('are named with the reason if other machines would refuse them', async () => {
    const { handle, places, commit } = await openBare();
    const long = `*.txt ${'a'.repeat(2_100)}\n`;
    const base = await commit({ 'old/.gitattributes': long });
    const bad = '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n';
    const next = await commit(
      {
        '.gitattributes': '*.txt text\n',
        '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = https://example.com/x\n',
        'a/.gitattributes': long,
        'b/.gitmodules': '[submodule "y"]\n\tpath = y\n\turl = https://example.com/y\n',
        'c/.gitmodules': bad,
        'd/.gitattributes': { mode: '120000', text: long },
        'old/.gitattributes': undefined,
        'plain.txt': bad,
      },
      { parents: [base] },
    );
    const found = await findRefused(handle, places, [base, next]);
    expect(found.map(({ path, why }) => [path.toString(), why.replace(/:.*/s, '')])).toEqual([
      ['a/.gitattributes', 'gitattributesLineLength'],
      ['c/.gitmodules', 'gitmodulesUrl'],
    ]);
    expect(found.every(({ why }) => why.length <= 200)).toBe(true);
    expect(await findRefused(handle, places, [next, next])).toEqual([]);
    expect(readdirSync(places.making)).toEqual([]);
    expect(existsSync(join(places.depots, 'suspect'))).toBe(false);
  });
});
