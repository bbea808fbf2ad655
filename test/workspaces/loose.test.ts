import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeCommit, writeCommit } from '../../src/workspaces/depot/commit.ts';
import { openHandle } from '../../src/workspaces/depot/handle.ts';
import {
  areLoose,
  flushNames,
  moveLooseRef,
  readLooseRef,
  writeLooseCommit,
} from '../../src/workspaces/depot/loose.ts';
import { openGit, readId } from '../../src/workspaces/git.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const AUTHOR = { name: 'Ada <of> Alpha', email: 'ada@example.com' };

async function openBare(format: 'sha1' | 'sha256') {
  const dir = temporaryFolder();
  const git = openGit({ environment: { PATH: process.env['PATH'] } });
  await git.init(dir, format);
  mkdirSync(join(dir, 'no-tree'), { recursive: true });
  const handle = openHandle(git, dir);
  const tree = readId(await handle.run(['mktree'], { input: '' }));
  const commit = (message: string, parents: readonly string[] = []) =>
    writeCommit(handle, { tree, parents, message, author: AUTHOR, at: 1_700_000_000_999 });
  return { handle, tree, commit };
}

describe.for(['sha1', 'sha256'] as const)('without git, in a depot of %s', (format) => {
  test('a commit is the one that git makes', async () => {
    const { handle, tree, commit } = await openBare(format);
    const parents = [await commit('One'), await commit('Two')];
    const made = {
      tree,
      parents,
      message: 'Grüße\n\nBody',
      trailers: [['Task-Id', '7\n8']] as const,
      author: AUTHOR,
      committer: { name: '', email: 'c@example.com' },
      at: 1_700_000_000_999,
    };
    const written = await writeCommit(handle, made);
    const { out } = await handle.run(['cat-file', 'commit', written]);
    expect(areLoose(handle.dir, [tree, ...parents, written])).toBe(true);
    expect(await makeCommit(handle, made)).toBe(written);
    expect(out.toString()).toContain('Grüße');
    expect((await handle.run(['fsck', '--strict', '--full'])).code).toBe(0);
  });

  test('a ref moves from the value that it has, also a packed one, and from no other', async () => {
    const { handle, commit } = await openBare(format);
    const [one, two, three] = [await commit('1'), await commit('2'), await commit('3')];
    const ref = 'refs/saves/alpha/ada';
    await handle.changeRefs([{ ref, to: one, from: '' }]);
    await handle.advanceRef({ ref, to: two, from: one });
    expect((await handle.run(['rev-parse', ref])).out.toString().trim()).toBe(two);
    await expect(handle.advanceRef({ ref, to: three, from: one })).rejects.toMatchObject({ code: 'conflict' });
    await handle.run(['pack-refs', '--all', '--prune']);
    await handle.advanceRef({ ref, to: three, from: two });
    expect(await handle.readRef(ref)).toBe(three);
    await handle.advanceRef({ ref, to: one, from: three });
    expect((await handle.run(['for-each-ref', '--format=%(objectname)'])).out.toString().trim()).toBe(one);
  });
});

test('an object that cannot be written is a refusal of the disk', async () => {
  const gone = join(temporaryFolder(), 'gone');
  await expect(writeLooseCommit(gone, { body: 'x', format: 'sha1' })).rejects.toMatchObject({
    code: 'storage',
    facts: { errno: 'ENOENT' },
  });
  expect(areLoose(gone, ['a'.repeat(40)])).toBe(false);
});

test('names are flushed where the disk can do that, and a folder that is gone has none', async () => {
  const folder = temporaryFolder();
  await flushNames(folder);
  await flushNames(join(folder, 'gone'));
  // Linux cannot flush what is in no file; elsewhere there is no such folder.
  await flushNames('/proc/self');
  writeFileSync(join(folder, 'file'), '');
  await expect(flushNames(join(folder, 'file/x'))).rejects.toMatchObject({
    code: 'storage',
    message: expect.stringContaining(`Cannot write ${folder}/file/x: `),
    facts: { errno: 'ENOTDIR' },
  });
});

test('a lock of a command that somebody runs by hand stays, one of a stopped command goes', async () => {
  const { handle, commit } = await openBare('sha1');
  const [one, two] = [await commit('1'), await commit('2')];
  const ref = 'refs/saves/alpha/ada';
  await handle.changeRefs([{ ref, to: one, from: '' }]);
  const lock = join(handle.dir, `${ref}.lock`);
  writeFileSync(lock, '');
  await expect(handle.advanceRef({ ref, to: two, from: one })).rejects.toMatchObject({ code: 'conflict' });
  expect(existsSync(lock)).toBe(true);
  await expect(handle.run(['update-ref', '-d', ref], { signal: AbortSignal.abort() })).rejects.toThrow();
  await handle.advanceRef({ ref, to: two, from: one });
  expect([existsSync(lock), await handle.readRef(ref)]).toEqual([false, two]);
});

test('of many that move a ref at once exactly one does; one that is not as it should be stays', async () => {
  const { handle, commit } = await openBare('sha1');
  const ids = [];
  for (const text of ['1', '2', '3', '4', '5']) ids.push(await commit(text));
  const [from = '', ...others] = ids;
  const ref = 'refs/saves/alpha/ada';
  await handle.changeRefs([{ ref, to: from, from: '' }]);
  const moved = await Promise.all(
    [...others, ...others, ...others].map((to) => moveLooseRef(handle.dir, { ref, to, from })),
  );
  expect(moved.filter(Boolean)).toEqual([true]);
  const to = await readLooseRef(handle.dir, ref);
  expect(others).toContain(to);
  expect(await moveLooseRef(handle.dir, { ref, to: from, from })).toBe(false);
  expect(existsSync(join(handle.dir, `${ref}.lock`))).toBe(false);
  // What only git can tell.
  writeFileSync(join(handle.dir, 'refs/saves/alpha/link'), `ref: ${ref}\n`);
  writeFileSync(join(handle.dir, 'refs/saves/alpha/zeros'), `${'0'.repeat(40)}\n`);
  for (const odd of [
    'refs/saves/alpha/link',
    'refs/saves/alpha/zeros',
    'refs/saves/none',
    'refs/saves/../../HEAD',
    `${ref}^{commit}`,
    'HEAD',
  ]) {
    expect(await readLooseRef(handle.dir, odd), odd).toBeUndefined();
  }
  expect(await handle.readRef('refs/saves/alpha/link')).toBe(to);
  expect(await handle.readRef(`${ref}^{tree}`)).toBe(await handle.treeOf(to!));
  expect(await handle.readRef('refs/saves/none')).toBeUndefined();
  await expect(handle.treeOf('1'.repeat(40))).rejects.toThrow('git rev-parse failed');

  // A lock whose name is too long.
  const long = `refs/saves/alpha/${'x'.repeat(252)}`;
  writeFileSync(join(handle.dir, long), `${from}\n`);
  await expect(moveLooseRef(handle.dir, { ref: long, to: to!, from })).rejects.toMatchObject({
    code: 'storage',
    facts: { errno: 'ENAMETOOLONG' },
  });
});

test('refs are changed all or none, and a change of nothing is none', async () => {
  const { handle, commit } = await openBare('sha256');
  const [one, two] = [await commit('1'), await commit('2')];
  await handle.changeRefs([]);
  await handle.changeRefs([
    { ref: 'refs/a', to: one },
    { ref: 'refs/b', to: two, from: '' },
  ]);
  await expect(
    handle.changeRefs([
      { ref: 'refs/a', to: two },
      { ref: 'refs/b', to: one, from: '' },
    ]),
  ).rejects.toMatchObject({ code: 'conflict' });
  await expect(handle.changeRefs([{ ref: 'refs/a', to: undefined, from: two }])).rejects.toMatchObject({
    code: 'conflict',
  });
  await expect(handle.changeRefs([{ ref: 'refs/c', to: 'HEAD' }])).rejects.toMatchObject({ code: 'invalid' });
  expect(await Promise.all(['refs/a', 'refs/b', 'refs/c'].map((ref) => handle.readRef(ref)))).toEqual([
    one,
    two,
    undefined,
  ]);
  await handle.changeRefs([
    { ref: 'refs/a', to: undefined, from: one },
    { ref: 'refs/b', to: undefined },
  ]);
  expect((await handle.run(['for-each-ref'])).out.toString()).toBe('');
});

test('an import that is cancelled changes nothing, one that is stopped leaves no lock and no report', async () => {
  const { handle, commit } = await openBare('sha1');
  const one = await commit('1');
  await handle.changeRefs([{ ref: 'refs/a', to: one }]);
  handle.openImport().cancel();
  const bad = handle.openImport();
  await expect(bad.commit(Buffer.from('nonsense\n'), 'refs/a')).rejects.toThrow();
  await expect.poll(() => readdirSync(handle.dir).filter((name) => name.startsWith('fast_import'))).toEqual([]);
  // A command that was stopped: its locks go before the next change, those of packed refs, too.
  await expect(handle.run(['pack-refs'], { signal: AbortSignal.abort() })).rejects.toThrow();
  for (const name of ['refs/a.lock', 'packed-refs.lock']) writeFileSync(join(handle.dir, name), '');
  await handle.changeRefs([{ ref: 'refs/a', to: undefined }]);
  expect(await handle.readRef('refs/a')).toBeUndefined();
  // One that locks nothing says nothing about locks.
  await expect(handle.run(['rev-parse', one], { signal: AbortSignal.abort() })).rejects.toThrow();
  writeFileSync(join(handle.dir, 'refs/b.lock'), '');
  await expect(handle.changeRefs([{ ref: 'refs/b', to: one }])).rejects.toMatchObject({ code: 'conflict' });
  expect(existsSync(join(handle.dir, 'refs/b.lock'))).toBe(true);
});
