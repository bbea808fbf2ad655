import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSave } from '../../src/workspaces/depot/saves.ts';
import {
  expireLeftovers,
  hasBranches,
  KEPT_MS,
  listLeftovers,
  markMerged,
  removeLeftovers,
  TRASH_MS,
  unmark,
} from '../../src/workspaces/leftovers.ts';
import { openBare } from './bare.ts';

/** A project, and what names a commit in the checkout, the branch of a deleted team, or kept work. */
async function openProject() {
  const bare = await openBare();
  const { handle, places, commit } = bare;
  const base = await commit({ 'a.txt': 'a\n' }, { ref: 'refs/checkout/heads/main' });
  const tree = await handle.treeOf(await commit({ 'a.txt': 'b\n', 'b.txt': 'b\n' }, { parents: [base] }));
  const point = (ref: string, to: string | undefined) => handle.changeRefs([{ ref, to }]);
  /** Work of a member that was put away at a time. */
  const keep = async (member: string, at: number, team = 'alpha'): Promise<string> => {
    const name = { team, member };
    const { commit: id } = await makeSave(handle, { name, tree, base, last: undefined, at });
    await point(`refs/kept/${team}/${member}/${id}`, id);
    return id;
  };
  const branch = (text: string): Promise<string> => commit({ [text]: text }, { parents: [base] });
  const where = { places, depots: [handle] };
  const list = () => listLeftovers(where);
  return { ...bare, base, point, keep, branch, where, list };
}

test('what is left behind is listed oldest first, with what it is of and when it goes', async () => {
  const { dir, handle, places, point, keep, branch, list, where } = await openProject();
  expect(await hasBranches(handle)).toBe(false);
  const [one, two] = [await branch('one'), await branch('two')];
  await point('refs/deleted/alpha/5000', one);
  await point('refs/deleted/beta/7000', two);
  // Not as we name them.
  await point('refs/deleted/beta/soon', two);
  expect(await hasBranches(handle)).toBe(true);
  const [before, after, ofBeta] = [
    await keep('ada', 4_000),
    await keep('bob', 6_000),
    await keep('ada', 1_000, 'beta'),
  ];
  const folder = join(places.trash, '1700000000000-alpha.ada.x-0123456789ab');
  mkdirSync(folder);
  await point('refs/checkout/heads/side', one);
  await markMerged(handle, [], 9_000);
  const goesAt = 9_000 + KEPT_MS;
  const kept = { kind: 'kept', files: 2, path: dir };
  expect(await list()).toEqual([
    { ...kept, id: ofBeta, of: 'beta/ada', at: 1_000, ref: `refs/kept/beta/ada/${ofBeta}`, commit: ofBeta },
    { ...kept, id: before, of: 'alpha/ada', at: 4_000, ref: `refs/kept/alpha/ada/${before}`, commit: before, goesAt },
    { id: one, kind: 'branch', of: 'alpha', at: 5_000, path: dir, ref: 'refs/deleted/alpha/5000', commit: one, goesAt },
    // Put away after the team was deleted: of another team of that name.
    { ...kept, id: after, of: 'alpha/bob', at: 6_000, ref: `refs/kept/alpha/bob/${after}`, commit: after },
    { id: two, kind: 'branch', of: 'beta', at: 7_000, path: dir, ref: 'refs/deleted/beta/7000', commit: two },
    {
      id: '0123456789ab',
      kind: 'trash',
      of: 'alpha/ada.x',
      at: 1_700_000_000_000,
      goesAt: 1_700_000_000_000 + TRASH_MS,
      size: expect.any(Number),
      path: folder,
    },
  ]);

  // Nothing goes before its time, and then nothing else.
  await expireLeftovers(where, goesAt);
  expect(await list()).toHaveLength(6);
  await expireLeftovers(where, goesAt + 1);
  expect((await list()).map(({ id }) => id)).toEqual([ofBeta, after, two, '0123456789ab']);
  expect((await handle.run(['for-each-ref', 'refs/merged'])).out.toString()).toBe('');
  await expireLeftovers(where, 1_700_000_000_000 + TRASH_MS);
  expect(existsSync(folder)).toBe(true);
  await expireLeftovers(where, 1_700_000_000_001 + TRASH_MS);
  expect(existsSync(folder)).toBe(false);
});

test('a branch counts as merged while a branch of the user has it, or HEAD, from the first time on', async () => {
  const { handle, point, keep, branch, list } = await openProject();
  const [one, two, elsewhere] = [await branch('one'), await branch('two'), '1'.repeat(40)];
  const work = await keep('ada', 2_000);
  const goes = async () => (await list()).find(({ id }) => id === work)?.goesAt;
  // The branch of a team that is there, and one that only another machine has.
  const teams = [
    { team: 'alpha', commit: one },
    { team: 'alpha', commit: elsewhere },
  ];
  await markMerged(handle, teams, 3_000);
  expect(await goes()).toBeUndefined();
  await point('refs/checkout/heads/troupe/alpha', one);
  await markMerged(handle, teams, 3_000);
  expect(await goes()).toBeUndefined();
  await point('refs/checkout/HEAD', one);
  await markMerged(handle, teams, 3_000);
  await markMerged(handle, teams, 5_000);
  expect(await goes()).toBe(3_000 + KEPT_MS);
  expect(await hasBranches(handle)).toBe(true);
  await point('refs/checkout/HEAD', two);
  await markMerged(handle, teams, 6_000);
  expect(await goes()).toBeUndefined();
  await point('refs/checkout/heads/troupe-of-mine', one);
  // Work that was put away later is of a branch that goes on.
  await markMerged(handle, teams, 1_999);
  expect(await goes()).toBeUndefined();
  await unmark(handle);
  await markMerged(handle, teams, 2_000);
  expect(await goes()).toBe(2_000 + KEPT_MS);
  await unmark(handle);
  expect(await goes()).toBeUndefined();
  expect(await hasBranches(handle)).toBe(false);
});

test('people remove it by the beginning of an id, also several at once, and nothing if one is not clear', async () => {
  const { handle, places, point, keep, branch, where, list } = await openProject();
  const [work, tip] = [await keep('ada', 4_000), await branch('one')];
  await point('refs/deleted/alpha/5000', tip);
  // The same work, kept for two members.
  await point(`refs/kept/alpha/bob/${work}`, work);
  for (const end of ['aa0123456789', 'aa9876543210']) mkdirSync(join(places.trash, `1700000000000-alpha.ada-${end}`));
  await expect(removeLeftovers(where, [work.slice(0, 9), 'aa'])).rejects.toMatchObject({
    code: 'not_found',
    message: '"aa" is the beginning of several: troupe work clean lists all; nothing was removed',
  });
  await expect(removeLeftovers(where, [work.slice(0, 9), 'xyz'])).rejects.toMatchObject({
    message: '"xyz" is nothing that was left behind: troupe work clean lists all; nothing was removed',
  });
  expect(await list()).toHaveLength(5);
  const gone = await removeLeftovers(where, [work.slice(0, 9), work, 'aa01']);
  expect(gone.map(({ kind, of }) => `${kind} ${of}`).sort()).toEqual([
    'kept alpha/ada',
    'kept alpha/bob',
    'trash alpha/ada',
  ]);
  expect((await list()).map(({ kind, id }) => `${kind} ${id}`)).toEqual([`branch ${tip}`, 'trash aa9876543210']);
  expect(await handle.readRef(`refs/kept/alpha/ada/${work}`)).toBeUndefined();
  expect((await removeLeftovers(where, ['trash', tip])).map(({ kind }) => kind)).toEqual(['trash', 'branch']);
  expect(await list()).toEqual([]);
  expect(await removeLeftovers(where, ['trash'])).toEqual([]);
});
