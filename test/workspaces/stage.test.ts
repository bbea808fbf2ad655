import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lacksEncoding, listLackingEncoding } from '../../src/workspaces/attributes.ts';
import { GitError } from '../../src/workspaces/git-errors.ts';
import { findDifferences, isAboutPath, lookAt, stageFolder } from '../../src/workspaces/stage.ts';
import type { Staging } from '../../src/workspaces/stage.ts';
import { listSubmodules, markSubmodules } from '../../src/workspaces/submodules.ts';
import { WORK_LIMITS } from '../../src/workspaces/workspace.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openBare } from './bare.ts';
import { write } from './project.ts';

/** A folder with an index that has these files, as they were a while ago. */
async function openFolder(files: Record<string, string> = {}, more: Partial<Staging> = {}) {
  const bare = await openBare();
  const { git, dir, commit } = bare;
  const folder = temporaryFolder();
  const index = join(temporaryFolder(), 'index');
  const place = { dir, index, tree: folder };
  const base = await commit({ '.gitignore': '*.log\n', ...files });
  await git.run(place, ['read-tree', '-m', '-u', base]);
  const calls: string[] = [];
  const staging: Staging = {
    git,
    dir,
    index,
    folder,
    limits: { fileSize: 1_000, workSize: 2_000 },
    filters: new Set(),
    beforeChange: async () => void calls.push('before'),
    ...more,
  };
  return {
    ...bare,
    base,
    folder,
    place,
    calls,
    staging,
    /** What the index has, after the folder was brought into it. */
    stage: async (prior: readonly string[] = [], changed: Partial<Staging> = {}) => {
      const found = await stageFolder(
        { ...staging, ...changed },
        prior.map((path) => Buffer.from(path)),
      );
      const listed = (await git.run(place, ['ls-files', '--stage'])).out.toString();
      const paths = listed
        .split('\n')
        .filter(Boolean)
        .map((line) => line.replace(/ .*\t/, ' '));
      return { ...found, paths: paths.filter((path) => !path.endsWith('.gitignore')) };
    },
  };
}

describe('what is brought into an index', () => {
  test('is what differs: new, changed and gone files and links, and nothing else', async () => {
    const { folder, staging, calls, stage } = await openFolder({
      'a.txt': 'a\n',
      'b/c.txt': 'c\n',
      'd.txt': 'd\n',
      e: 'e\n',
      f: 'f\n',
    });
    expect(await stage()).toEqual({
      isTouched: false,
      leftOut: [],
      paths: ['100644 a.txt', '100644 b/c.txt', '100644 d.txt', '100644 e', '100644 f'],
    });
    expect(calls).toEqual([]);
    write(folder, { 'a.txt': 'changed\n', 'new/n.txt': 'n\n', 'x.log': 'ignored\n' });
    rmSync(join(folder, 'b'), { recursive: true });
    // What is behind a link is none of it.
    const far = temporaryFolder();
    write(far, { 'c.txt': 'far\n' });
    symlinkSync(far, join(folder, 'b'));
    chmodSync(join(folder, 'd.txt'), 0o755);
    rmSync(join(folder, 'e'));
    write(folder, { 'e/inside': 'x\n' });
    rmSync(join(folder, 'f'));
    const { files, gone, indexed, leftOut } = await findDifferences(staging, []);
    expect(files.map(({ path, size }) => `${path.toString()} ${size}`).sort()).toEqual([
      'a.txt 8',
      `b ${far.length}`,
      'd.txt 2',
      'e/inside 2',
      'new/n.txt 2',
    ]);
    expect(gone.map(String).sort()).toEqual(['b/c.txt', 'e', 'f']);
    expect(indexed(Buffer.from('a.txt'))).toMatchObject({
      oldMode: '100644',
      oldId: expect.stringMatching(/^[1-9a-f]/),
    });
    expect(indexed(Buffer.from('new/n.txt'))).toBeUndefined();
    expect(leftOut).toEqual([]);
    expect(calls).toEqual([]);
    const staged = await stage();
    expect(staged).toEqual({
      isTouched: true,
      leftOut: [],
      paths: ['100644 a.txt', '120000 b', '100755 d.txt', '100644 e/inside', '100644 new/n.txt'],
    });
    expect(calls).toEqual(['before']);
    // One that is gone alone is a change.
    rmSync(join(folder, 'a.txt'));
    expect(await stage([], { beforeChange: undefined as never })).toMatchObject({ isTouched: true });
  });

  test('is never what git keeps for itself, a repository inside, a pipe, or a copied file: each is named', async () => {
    const { folder, stage } = await openFolder({ 'pipe.txt': 'p\n' }, { copied: new Set(['.env', 'caf\xe9']) });
    rmSync(join(folder, 'pipe.txt'));
    write(folder, { '.env': 'KEY', '.env2': 'KEY', 'ok.txt': 'ok\n' });
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]), 'x');
    const names = [
      '.GIT/x',
      'a/.git ./x',
      'b/git~1',
      'c/.git::$INDEX',
      'd/x\\.git',
      '.gitmodules/x',
      'e/GITATT~1/x',
      'f/.git\u200c/x',
    ];
    write(folder, Object.fromEntries(names.map((name) => [name, 'x'])));
    const fine = ['g/.gitmodule/x', 'g/.gitmodules', 'g/git~2', 'g/x.git/y', 'g/.gitx', 'g/a\\b', 'g/gitmod~5/x'];
    write(folder, Object.fromEntries(fine.map((name) => [name, '\n'])));
    execFileSync('mkfifo', [join(folder, 'pipe.txt')]);
    for (const name of ['nested', 'deep/nested']) {
      write(folder, {
        [`${name}/.git/HEAD`]: 'ref: refs/heads/main\n',
        [`${name}/.git/objects/x`]: '',
        [`${name}/.git/refs/x`]: '',
        [`${name}/y`]: 'y',
      });
    }
    const { leftOut, paths } = await stage();
    const why = 'git keeps such names for itself';
    expect([...leftOut].sort((a, b) => (`${a.reason} ${a.path}` < `${b.reason} ${b.path}` ? -1 : 1))).toStrictEqual([
      { path: '"caf\\351"', reason: 'copied' },
      { path: '.env', reason: 'copied' },
      ...[...names].sort().map((path) => ({ path, reason: 'name', detail: why })),
      { path: 'deep/nested', reason: 'nested-repository' },
      { path: 'nested', reason: 'nested-repository' },
      { path: 'pipe.txt', reason: 'special-file' },
    ]);
    expect(paths).toEqual(
      ['.env2', ...fine, 'ok.txt', 'pipe.txt']
        .sort()
        .map((path) => `100644 ${path.includes('\\') ? JSON.stringify(path) : path}`),
    );
  });

  test('is no more than the limits allow: the smallest files first, with what differed before', async () => {
    const { folder, stage } = await openFolder({ 'old.txt': 'o'.repeat(900) });
    write(folder, { 'most.txt': 'x'.repeat(1_000), 'b.txt': 'b'.repeat(990), 'small.txt': 's'.repeat(10) });
    writeFileSync(join(folder, 'huge.txt'), '');
    truncateSync(join(folder, 'huge.txt'), 10 * 1024 ** 3);
    // What differed and is gone now, or is named again, does not count twice.
    const all = await stage(['gone.txt', 'b.txt']);
    expect(all.leftOut).toStrictEqual([{ path: 'huge.txt', reason: 'file-size', detail: `${10 * 1024 ** 3} bytes` }]);
    expect(all.paths).toHaveLength(4);
    write(folder, { 'late.txt': 'l' });
    const late = await stage(['most.txt', 'b.txt', 'small.txt']);
    expect(late.leftOut).toStrictEqual([
      { path: 'huge.txt', reason: 'file-size', detail: expect.any(String) },
      { path: 'late.txt', reason: 'work-size', detail: '1 bytes' },
    ]);
    write(folder, { 'late.txt': 'l'.repeat(300), 'later.txt': 'l'.repeat(200), 'latest.txt': 'l'.repeat(100) });
    rmSync(join(folder, 'huge.txt'));
    expect(
      (await stage(['most.txt'], { limits: { fileSize: 1_000, workSize: 1_300 } })).leftOut.map(({ path }) => path),
    ).toEqual(['late.txt']);
  });

  test('is also a staged file that is ignored', async () => {
    const { folder, stage } = await openFolder();
    write(folder, { 'x.log': 'x', 'y.log': 'y', 'a.txt': 'a' });
    const staged = [Buffer.from('x.log'), Buffer.from('a.txt'), Buffer.from('gone.log')];
    expect((await stage([], { staged })).paths).toEqual(['100644 a.txt', '100644 x.log']);
  });

  test('is no large file in place of its pointer; pointers and links need no filter', async () => {
    const { folder, stage } = await openFolder({
      '.gitattributes': '*.bin filter=lfs\n*.key filter=crypt\n*.own filter=own\n',
    });
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n';
    write(folder, {
      'big.bin': 'x'.repeat(900),
      'late.bin': `x${pointer}`,
      'least.bin': pointer.padEnd(1_024, '\n'),
      'more.bin': pointer.padEnd(1_025, '\n'),
      'my.key': 's',
      'my.own': 'o',
      'pointer.bin': pointer,
      'text.txt': 't',
    });
    symlinkSync('text.txt', join(folder, 'link.bin'));
    const limits = { fileSize: 10_000, workSize: 100_000 };
    const { leftOut, paths } = await stage([], { filters: new Set(['lfs', 'crypt']), limits });
    expect(leftOut).toStrictEqual([
      { path: 'big.bin', reason: 'filter', detail: 'lfs' },
      { path: 'late.bin', reason: 'filter', detail: 'lfs' },
      { path: 'more.bin', reason: 'filter', detail: 'lfs' },
      { path: 'my.key', reason: 'filter', detail: 'crypt' },
    ]);
    expect(paths).toEqual([
      '100644 .gitattributes',
      '100644 least.bin',
      '120000 link.bin',
      '100644 my.own',
      '100644 pointer.bin',
      '100644 text.txt',
    ]);
    expect((await stage([], { limits })).leftOut).toEqual([]);
  });

  test('is all but the files that git itself cannot take', async () => {
    const { folder, stage } = await openFolder({ '.gitattributes': '*.txt working-tree-encoding=UTF-16\n' });
    const names = Array.from({ length: 7 }, (_, at) => `ok-${at}.md`);
    write(folder, Object.fromEntries([...names, 'a.txt', 'z.txt'].map((name) => [name, 'plain\n'])));
    symlinkSync('x', join(folder, '.gitmodules'));
    const { leftOut, paths, isTouched } = await stage();
    const detail = expect.stringMatching(/^(?:error|fatal): BOM is required in '[az]\.txt'/);
    expect([...leftOut].sort((a, b) => (a.path < b.path ? -1 : 1))).toStrictEqual([
      { path: '.gitmodules', reason: 'name' },
      { path: 'a.txt', reason: 'unreadable', detail },
      { path: 'z.txt', reason: 'unreadable', detail },
    ]);
    expect(isTouched).toBe(true);
    expect(paths).toEqual(['100644 .gitattributes', ...names.map((name) => `100644 ${name}`)]);
  });

  test('is nothing while attributes without an encoding stop git from looking: they are named', async () => {
    const { git, place, folder, stage } = await openFolder({ 'a.txt': 'a\n' });
    write(folder, {
      '.gitattributes': '*.txt text working-tree-encoding\n',
      'sub/.gitattributes': '*.x working-tree-encoding=UTF-8\n',
      'a.txt': 'A\n',
    });
    const detail = 'working-tree-encoding needs a value there, such as UTF-16';
    const first = await stage();
    expect(first.leftOut).toStrictEqual([{ path: '.gitattributes', reason: 'unreadable', detail }]);
    expect(first.isTouched).toBe(false);
    // Also one that is ignored itself.
    write(folder, { '.gitignore': '.gitattributes\n' });
    expect((await stage()).leftOut).toStrictEqual([{ path: '.gitattributes', reason: 'unreadable', detail }]);
    expect(await listLackingEncoding(git, place, folder)).toEqual([]);
    // Anything else is an error.
    rmSync(join(folder, '.gitattributes'));
    writeFileSync(place.index, 'nonsense');
    await expect(stage()).rejects.toMatchObject({ code: 'corrupt' });
  });
});

test('a file lacks an encoding if it is one of attributes, can be read, and says so in a line of its own', async () => {
  const folder = temporaryFolder();
  const lacks = (path: string) => lacksEncoding(folder, Buffer.from(path));
  const bad = '# x\n*.txt working-tree-encoding\n';
  write(folder, {
    '.gitattributes': bad,
    'a/.GITATTRIBUTES': '*.txt working-tree-encoding text\n',
    'b/.gitattributes':
      '# *.txt working-tree-encoding\n*.txt working-tree-encoding=UTF-16\n*.x -working-tree-encodings\n',
    'c.gitattributes': bad,
    'e/.gitattributes/x': '',
  });
  symlinkSync('.gitattributes', join(folder, 'link'));
  mkdirSync(join(folder, 'd'));
  symlinkSync('../.gitattributes', join(folder, 'd/.gitattributes'));
  mkdirSync(join(folder, 'f'));
  execFileSync('mkfifo', [join(folder, 'f/.gitattributes')]);
  mkdirSync(join(folder, 'g'));
  writeFileSync(join(folder, 'g/.gitattributes'), bad);
  truncateSync(join(folder, 'g/.gitattributes'), 100 * 1024 * 1024 + 1);
  expect(await Promise.all(['.gitattributes', 'a/.GITATTRIBUTES'].map(lacks))).toEqual([true, true]);
  for (const name of ['b', 'd', 'e', 'f', 'g', 'gone']) expect(await lacks(`${name}/.gitattributes`), name).toBe(false);
  expect(await lacks('c.gitattributes')).toBe(false);
  expect(lookAt(folder, Buffer.from('.gitattributes/x'))).toBeUndefined();
  expect(lookAt(folder, Buffer.from('x'.repeat(300)))).toBeUndefined();
  expect(lookAt(folder, Buffer.from('gone'))).toBeUndefined();
  expect(lookAt(folder, Buffer.from('c.gitattributes'))?.size).toBe(bad.length);
});

test('a file may have 50 MB and a work 200, if a team says nothing else', () => {
  expect(WORK_LIMITS).toEqual({ fileSize: 52_428_800, workSize: 209_715_200 });
});

test('what git says about one file is told from a full disk and a damaged depot', () => {
  const said = (complaint: string, errno?: string) => isAboutPath(new GitError('storage', 'x', { complaint, errno }));
  expect(said('error: open("x"): Permission denied\nerror: unable to index file \'x\'', 'EACCES')).toBe(true);
  expect(said('fatal: Unable to process path x')).toBe(true);
  expect(said('fatal: Unable to process path x', 'ENOSPC')).toBe(false);
  expect(said('fatal: index file corrupt')).toBe(false);
  expect(isAboutPath(new Error('Unable to process path x'))).toBe(false);
});

test('submodules of an index are named, and no command looks into their folders', async () => {
  const { git, dir, place, folder, base, staging } = await openFolder({ 'a.txt': 'a\n' });
  const indexed = { git, dir, index: place.index, folder };
  expect(await listSubmodules(indexed)).toEqual([]);
  expect(await markSubmodules(indexed)).toEqual([]);
  for (const name of ['libs/one', 'libs/t wo']) {
    await git.run(place, ['update-index', '--add', '--cacheinfo', `160000,${base},${name}`]);
  }
  expect(await markSubmodules(indexed)).toEqual(['libs/one', 'libs/t wo']);
  expect((await git.run(place, ['ls-files', '-t', 'libs'])).out.toString()).toBe('S libs/one\nS libs/t wo\n');
  expect((await findDifferences(staging, [])).gone).toEqual([]);
});
