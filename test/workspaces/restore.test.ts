import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStage, plainGit, write } from './project.ts';

const ADA = { team: 'alpha', member: 'ada' };
const AUTHOR = { name: 'Ada', email: 'ada@example.com' };

/** Ada saved work from one base, and went on from a tip that has other work. */
async function openAdvanced() {
  const stage = await openStage();
  const { checkout, workspaces, depot } = stage;
  const bob = await workspaces.open({ team: 'alpha', member: 'bob' }, { base: checkout.head });
  const ada = await workspaces.open(ADA, { base: checkout.head });
  write(ada.folder, { 'src/a.ts': 'first\n' });
  const first = await ada.save();
  write(bob.folder, { 'src/b.ts': 'of bob\n' });
  const work = await bob.save();
  const landed = await depot.land(
    { tip: checkout.head, work: work!.commit },
    { message: 'bob', author: AUTHOR, at: 0 },
  );
  const tip = 'landed' in landed ? landed.landed : '';
  await ada.refresh(tip);
  write(ada.folder, { 'docs/guide.md': 'second\n' });
  const second = await ada.save();
  return { ...stage, ada, first: first!, second: second!, tip };
}

describe('a save from before other work landed', () => {
  test('is restored without undoing that work when it lands', async () => {
    const { ada, first, tip, depot, checkout } = await openAdvanced();
    await ada.restore(first.commit);
    expect(ada.base).toBe(checkout.head);
    expect(readFileSync(join(ada.folder, 'src/b.ts'), 'utf8')).not.toBe('of bob\n');
    write(ada.folder, { 'README.md': 'third\n' });
    const third = await ada.save();
    const landed = await depot.land({ tip, work: third!.commit }, { message: 'ada', author: AUTHOR, at: 0 });
    const show = (path: string) => plainGit(depot.dir, 'show', `${landed.tree}:${path}`);
    expect(['src/a.ts', 'src/b.ts', 'README.md'].map(show)).toEqual(['first', 'of bob', 'third']);
  });

  test('leaves all later saves in the list, and each can be restored, also by the next daemon', async () => {
    const { root, ada, first, second, checkout } = await openAdvanced();
    await ada.restore(first.commit);
    write(ada.folder, { 'README.md': 'third\n' });
    const third = await ada.save();
    const saves = (await ada.saves()).map(({ commit }) => commit);
    expect(saves).toEqual(expect.arrayContaining([third!.commit, second.commit, first.commit]));
    const next = await openStage({ root });
    const found = await next.workspaces.open(ADA, { base: checkout.head });
    await found.restore(second.commit);
    expect(readFileSync(join(found.folder, 'docs/guide.md'), 'utf8')).toBe('second\n');
    expect(await found.save()).toMatchObject({ tree: second.tree, base: second.base });
    await found.restore(third!.commit);
    expect(readFileSync(join(found.folder, 'README.md'), 'utf8')).toBe('third\n');
  });

  test('is kept with the later ones when the workspace is closed', async () => {
    const { ada, first, second, tip, depot } = await openAdvanced();
    await ada.restore(first.commit);
    write(ada.folder, { 'README.md': 'third\n' });
    const third = await ada.save();
    await ada.close({ tip });
    const kept = (await depot.kept()).map(({ commit }) => commit);
    expect(kept.sort()).toEqual([second.commit, third!.commit].sort());
    expect(plainGit(depot.dir, 'for-each-ref', 'refs/saves/alpha/ada', 'refs/earlier')).toBe('');
  });
});
