import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  expireLeftovers,
  KEPT_MS,
  listLeftovers,
  markMerged,
  removeLeftovers,
  TRASH_MS,
} from '../../src/workspaces/leftovers.ts';
import { mountSmall, needMounts } from '../journal/mounts.ts';
import { startAsNobody } from './nobody.ts';
import { newProject, openStage, plainGit, write } from './project.ts';

const ADA = { team: 'alpha', member: 'ada' };
const DAY = 24 * 60 * 60_000;

/** Ada's workspace was closed with work that is on no branch, and a branch of her deleted team is there. */
async function leaveBehind() {
  const stage = await openStage();
  const { checkout, workspaces, depot, places } = stage;
  const ada = await workspaces.open(ADA, { base: checkout.head });
  write(ada.folder, { 'src/a.ts': 'work\n', '.env': 'SECRET=1\n' });
  const { trash = '', kept } = await ada.close({ tip: checkout.head });
  const branch = await depot.commit({
    tree: kept!.tree,
    parents: [checkout.head],
    message: 'landed',
    author: { name: 'Ada', email: 'ada@example.com' },
    at: 0,
  });
  const deletedAt = Date.now();
  await depot.handle.changeRefs([{ ref: `refs/deleted/alpha/${deletedAt}`, to: branch }]);
  const where = { places, depots: [depot.handle] };
  const kinds = async (): Promise<string[]> => (await listLeftovers(where)).map(({ kind }) => kind).sort();
  return { ...stage, where, trash, kept: kept!, branch, deletedAt, kinds };
}

describe('what a workspace left behind', () => {
  test('is listed with its size and with when it goes', async () => {
    const { where, trash, kept, branch, depot } = await leaveBehind();
    const left = await listLeftovers(where);
    expect(left.find(({ kind }) => kind === 'trash')).toMatchObject({
      of: 'alpha/ada',
      path: trash,
      size: expect.any(Number),
    });
    expect(left.find(({ kind }) => kind === 'kept')).toMatchObject({
      of: 'alpha/ada',
      files: 1,
      commit: kept.commit,
      path: depot.dir,
    });
    expect(left.find(({ kind }) => kind === 'branch')).toMatchObject({ of: 'alpha', commit: branch });
    expect(
      left
        .filter(({ goesAt }) => goesAt === undefined)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['branch', 'kept']);
  });

  test('goes after 14 days if it is a folder, and stays for ever if it is work that nobody merged', async () => {
    const { where, trash, kinds, depot } = await leaveBehind();
    const now = Date.now();
    const native = join(where.places.trash, '2026-01-31T12-00-00.000Z-team-of-0123456789ab');
    mkdirSync(native);
    await expireLeftovers(where, now + TRASH_MS - DAY);
    expect(existsSync(trash)).toBe(true);
    await markMerged(depot.handle, [], now);
    await expireLeftovers(where, now + TRASH_MS + 1_000);
    expect(existsSync(trash)).toBe(false);
    await expireLeftovers(where, now + 1_000 * KEPT_MS);
    expect(existsSync(native), 'what others put into the trash').toBe(true);
    expect(await kinds()).toEqual(['branch', 'kept']);
  });

  test('goes 30 days after its branch was merged, but not work of a later team of that name', async () => {
    const { where, kinds, depot, checkout, branch, deletedAt, workspaces } = await leaveBehind();
    plainGit(checkout.folder, 'fetch', '-q', depot.dir, `refs/deleted/alpha/${deletedAt}`);
    plainGit(checkout.folder, 'merge', '-q', '--no-edit', branch);
    await depot.take({ ...checkout, head: plainGit(checkout.folder, 'rev-parse', 'HEAD') });
    const later = Date.now() + 2_000;
    await expect.poll(() => Date.now()).toBeGreaterThan(deletedAt + 1_100);
    const again = await workspaces.open(ADA, { base: branch });
    write(again.folder, { 'src/b.ts': 'later\n' });
    const { kept } = await again.close({ tip: branch });
    await markMerged(depot.handle, [], later);
    await markMerged(depot.handle, [], later + DAY);
    await expireLeftovers(where, later + KEPT_MS - 1_000);
    expect(await kinds()).toContain('branch');
    await expireLeftovers(where, later + KEPT_MS + 1_000);
    const left = await listLeftovers(where);
    expect(left.map(({ commit }) => commit)).toEqual([kept?.commit]);
    expect(plainGit(depot.dir, 'for-each-ref', 'refs/merged')).toBe('');
  });

  test('of several teams of one name is listed oldest first, each branch with what became of it', async () => {
    const { depot, checkout, places } = await openStage();
    const author = { name: 'Ada', email: 'ada@example.com' };
    const tree = plainGit(checkout.folder, 'rev-parse', `${checkout.head}^{tree}`);
    const branches: string[] = [];
    for (const [i, message] of ['first', 'second', 'third'].entries()) {
      const branch = await depot.commit({ tree, parents: [checkout.head], message, author, at: 0 });
      await depot.handle.changeRefs([{ ref: `refs/deleted/alpha/${300 - 100 * i}`, to: branch }]);
      branches.push(branch);
    }
    const [first, second, third] = branches;
    const where = { places, depots: [depot.handle] };
    const listed = async () => (await listLeftovers(where)).map(({ at, commit, goesAt }) => [at, commit, goesAt]);
    const merge = async (...commits: (string | undefined)[]): Promise<void> => {
      for (const commit of commits) {
        plainGit(
          checkout.folder,
          'fetch',
          '-q',
          depot.dir,
          ...['100', '200', '300'].map((at) => `refs/deleted/alpha/${at}`),
        );
        plainGit(checkout.folder, 'branch', `has-${commit}`, String(commit));
      }
      await depot.take(checkout);
    };
    await merge(first, second);
    await markMerged(depot.handle, [], 1_000);
    expect(await listed()).toEqual([
      [100, third, undefined],
      [200, second, 1_000 + KEPT_MS],
      [300, first, 1_001 + KEPT_MS],
    ]);
    // The user resets a branch. The other one stays merged.
    plainGit(checkout.folder, 'branch', '-D', '-q', `has-${first}`);
    await depot.take(checkout);
    await markMerged(depot.handle, [], 2_000);
    expect((await listed()).map(([, , goesAt]) => goesAt !== undefined)).toEqual([false, true, false]);
    // A merge that was refused leaves the team's own branch in the checkout.
    plainGit(checkout.folder, 'branch', 'troupe/alpha', String(third));
    await depot.take(checkout);
    await markMerged(depot.handle, [], 3_000);
    expect((await listed()).map(([, , goesAt]) => goesAt !== undefined)).toEqual([false, true, false]);
  });

  test('goes at the word of a person, by the beginning of an id; nothing goes if one id is wrong', async () => {
    const { where, kept, kinds, trash } = await leaveBehind();
    await expect(removeLeftovers(where, ['trash', 'ffff'])).rejects.toMatchObject({ code: 'not_found' });
    expect(await kinds()).toEqual(['branch', 'kept', 'trash']);
    await removeLeftovers(where, [kept.commit.slice(0, 7)]);
    expect(await kinds()).toEqual(['branch', 'trash']);
    await removeLeftovers(where, ['trash']);
    expect(existsSync(trash)).toBe(false);
    expect(await kinds()).toEqual(['branch']);
  });
});

test('a folder goes to the trash and out of it although its agent made folders read-only, or too deep for a path', async () => {
  const { ended, lines } = startAsNobody('workspace-readonly', newProject());
  expect(await ended).toEqual({ code: 0, signal: null, errors: '' });
  expect(JSON.parse(lines[0] ?? '')).toEqual({ isKept: true, listed: ['kept', 'trash'], left: [] });
});

test('a folder that cannot be removed is named, and keeps none of the others', async (context) => {
  needMounts(context);
  const { places, where, kinds } = await leaveBehind();
  const stuck = join(places.trash, '1700000000000-alpha.bob-0123456789ab');
  mkdirSync(stuck);
  // As a container may leave it.
  mountSmall(stuck, '1m');
  await expect(removeLeftovers(where, ['trash'])).rejects.toMatchObject({
    code: 'not_allowed',
    message: expect.stringMatching(new RegExp(`^${stuck} cannot be removed: .* sudo rm -rf ${stuck}$`)),
  });
  expect(await kinds()).toEqual(['branch', 'kept', 'trash']);
  await expect(expireLeftovers(where, Date.now() + KEPT_MS)).rejects.toThrow(stuck);
});
