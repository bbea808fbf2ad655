import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeCommit, writeCommit } from '../../src/workspaces/depot/commit.ts';
import { openHandle } from '../../src/workspaces/depot/handle.ts';
import { areLoose, writeLoose } from '../../src/workspaces/depot/loose.ts';
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
    expect(await areLoose(handle.dir, [tree, ...parents, written])).toBe(true);
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
  await expect(writeLoose(gone, { type: 'commit', body: 'x', format: 'sha1' })).rejects.toMatchObject({
    code: 'storage',
    facts: { errno: 'ENOENT' },
  });
  expect(await areLoose(gone, ['a'.repeat(40)])).toBe(false);
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
