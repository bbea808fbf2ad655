import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { borrowedDepots, depotOfTeam, teamsWithFolders } from '../../src/workspaces/clone.ts';
import { until } from '../until.ts';
import { commitAll, contents, newProject, openStage, plainGit, shareStage, write } from './project.ts';

const ADA = { team: 'alpha', member: 'ada' };

describe('a new workspace', () => {
  test('has the files of its base and an ordinary .git of its own', async () => {
    const { checkout, workspaces, depot } = await openStage();
    const ada = await workspaces.open(ADA, { base: checkout.head });
    expect(ada.opened.how).toBe('new');
    expect(contents(ada.folder)).toEqual(contents(checkout.folder));
    expect(plainGit(ada.folder, 'status', '--porcelain')).toBe('');
    expect(plainGit(ada.folder, 'rev-parse', 'HEAD')).toBe(checkout.head);
    expect(plainGit(ada.folder, 'log', '--oneline', 'origin/main')).toContain('first');
    expect(plainGit(ada.folder, 'fsck')).toBe('');
    expect(await depot.check()).toEqual([]);
    expect(await workspaces.list()).toEqual([ADA]);
  });

  test('leaves the repository of the user as it is, byte by byte', async () => {
    const root = newProject();
    const project = join(root, 'project');
    write(project, { 'src/b.ts': 'staged\n', 'new.ts': 'new\n' });
    plainGit(project, 'add', 'src/b.ts');
    write(project, { 'README.md': 'not staged\n' });
    const before = contents(project, []);
    const { checkout, workspaces, depot } = await openStage({ root });
    expect(await depot.uncommitted()).toEqual([
      { path: 'README.md', status: 'modified' },
      { path: 'new.ts', status: 'added' },
      { path: 'src/b.ts', status: 'modified' },
    ]);
    const { commit, changes } = await depot.takeUncommitted();
    expect(changes.map(({ path }) => path)).toEqual(['README.md', 'new.ts', 'src/b.ts']);
    const ada = await workspaces.open(ADA, { base: commit });
    expect(contents(ada.folder)).toEqual(contents(project));
    write(ada.folder, { 'src/a.ts': 'changed\n' });
    await ada.save();
    await ada.refresh(checkout.head);
    await ada.close({ tip: checkout.head });
    expect(contents(project, [])).toEqual(before);
  });

  test('does not take conflicts of the user along', async () => {
    const root = newProject();
    const project = join(root, 'project');
    plainGit(project, 'checkout', '-qb', 'other');
    write(project, { 'src/b.ts': 'theirs\n' });
    commitAll(project);
    plainGit(project, 'checkout', '-q', 'main');
    write(project, { 'src/b.ts': 'ours\n', 'new.ts': 'new\n' });
    commitAll(project);
    expect(() => plainGit(project, 'merge', 'other')).toThrow();
    const { depot } = await openStage({ root });
    await expect(depot.takeUncommitted()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('not resolved, in src/b.ts: resolve them and run git add'),
    });
    write(project, { 'src/b.ts': 'both\n' });
    plainGit(project, 'add', 'src/b.ts');
    expect((await depot.takeUncommitted()).changes).toEqual([{ path: 'src/b.ts', status: 'modified' }]);
  });
});

const nextStage = shareStage();

describe('a save', () => {
  test('holds what is in the folder, and is the same while nothing changes', async () => {
    const { name, checkout, workspaces, depot } = nextStage();
    const ada = await workspaces.open(name, { base: checkout.head });
    expect(await ada.save()).toMatchObject({ commit: checkout.head, unchanged: true, changes: [], leftOut: [] });

    write(ada.folder, { 'src/a.ts': 'new\n', 'src/c.ts': 'c\n', 'x.log': 'ignored\n' });
    rmSync(join(ada.folder, 'docs'), { recursive: true });
    const first = await ada.save();
    expect(first).toMatchObject({ base: checkout.head, unchanged: false });
    expect(first?.changes).toEqual([
      { path: 'docs/guide.md', status: 'deleted' },
      { path: 'src/a.ts', status: 'modified' },
      { path: 'src/c.ts', status: 'added' },
    ]);
    const again = await ada.save();
    expect(again).toEqual({ ...first, unchanged: true });
    expect(await depot.handle.readRef(`refs/saves/${name.team}/ada`)).toBe(first?.commit);
    const files = plainGit(depot.dir, 'ls-tree', '-r', '--name-only', first?.commit as string).split('\n');
    expect(files).toEqual(['.gitignore', 'README.md', 'src/a.ts', 'src/b.ts', 'src/c.ts']);
    expect(await depot.check()).toEqual([]);
  });

  test('sees an edit that changes neither size nor second, at any moment', async () => {
    const { name, checkout, workspaces, depot } = nextStage();
    const ada = await workspaces.open(name, { base: checkout.head });
    const second = () => Math.floor(Date.now() / 1000);
    for (let i = 0; i < 9; i++) {
      write(ada.folder, { 'src/b.ts': `export const b = ${i % 10};\n` });
      const now = second();
      if (i % 4 === 0) await until('the next second', () => second() > now);
      // Without an edit, between two: the index may be written again here.
      if (i % 3 === 0) await ada.save();
      write(ada.folder, { 'src/a.ts': `${'x'.repeat(i % 10)}${'y'.repeat(10 - (i % 10))}\n` });
      const saved = await ada.save();
      for (const path of ['src/a.ts', 'src/b.ts']) {
        const text = readFileSync(join(ada.folder, path), 'utf8').trim();
        expect(plainGit(depot.dir, 'cat-file', '-p', `${saved?.commit}:${path}`)).toBe(text);
      }
    }
  });

  test('is kept with all saves before it, and each can be restored', async () => {
    const { name, checkout, workspaces } = nextStage();
    const ada = await workspaces.open(name, { base: checkout.head });
    write(ada.folder, { 'src/a.ts': '1\n' });
    const one = await ada.save();
    write(ada.folder, { 'src/a.ts': '2\n', 'new.ts': 'n\n', '.env': 'SECRET=1\n' });
    const two = await ada.save();
    write(ada.folder, { 'src/a.ts': '3\n' });
    await ada.restore(one!.commit);
    expect(readFileSync(join(ada.folder, 'src/a.ts'), 'utf8')).toBe('1\n');
    expect(existsSync(join(ada.folder, 'new.ts'))).toBe(false);
    expect(existsSync(join(ada.folder, '.env'))).toBe(true);
    const saves = await ada.saves();
    expect(saves).toHaveLength(3);
    expect(saves.slice(1).map(({ commit }) => commit)).toEqual([two?.commit, one?.commit]);
    await ada.restore(saves[0]!.commit);
    expect(readFileSync(join(ada.folder, 'src/a.ts'), 'utf8')).toBe('3\n');
    await expect(ada.restore(checkout.head)).rejects.toMatchObject({ code: 'not_found' });
  });

  test.for([
    ['stashes', (folder: string) => plainGit(folder, 'stash', '-u')],
    ['resets', (folder: string) => plainGit(folder, 'reset', '-q', '--hard')],
    ['deletes .git', (folder: string) => rmSync(join(folder, '.git'), { recursive: true })],
    ['commits', (folder: string) => commitAll(folder)],
    [
      'puts a file in place of .git',
      (folder: string) => {
        rmSync(join(folder, '.git'), { recursive: true });
        writeFileSync(join(folder, '.git'), 'gitdir: /etc\n');
      },
    ],
  ] as const)('needs nothing of the .git in the folder: an agent that %s loses nothing', async ([, act]) => {
    const { root, name, checkout, workspaces } = nextStage();
    const ada = await workspaces.open(name, { base: checkout.head });
    write(ada.folder, { 'src/a.ts': 'work\n', 'new.ts': 'n\n' });
    const saved = await ada.save();
    act(ada.folder);
    await ada.save();
    expect((await ada.saves()).map(({ commit }) => commit)).toContain(saved?.commit);
    await ada.restore(saved!.commit);
    expect(readFileSync(join(ada.folder, 'src/a.ts'), 'utf8')).toBe('work\n');
    // The next daemon finds an ordinary repository again.
    const next = await openStage({ root });
    const found = await next.workspaces.open(name, { base: checkout.head });
    expect(found.opened.how).toBe('found');
    expect(plainGit(found.folder, 'rev-parse', 'HEAD')).toBe(checkout.head);
    expect(await found.save()).toMatchObject({ tree: saved?.tree });
  });
});

describe('after a crash of the machine', () => {
  test.for([
    ['empty', (index: string) => writeFileSync(index, '')],
    ['torn', (index: string) => truncateSync(index, 100)],
    ['gone', (index: string) => rmSync(index)],
    ['of another time', (index: string) => writeFileSync(index, readFileSync(`${index}.old`))],
  ] as const)('an index that is %s is made again, and the next save has everything', async ([, harm]) => {
    const { root, name, checkout, workspaces, places } = nextStage();
    const ada = await workspaces.open(name, { base: checkout.head });
    const index = join(places.indexes, name.team, 'ada/index');
    copyFileSync(index, `${index}.old`);
    write(ada.folder, { 'src/a.ts': 'work\n', 'x.log': 'forced\n', new: 'n\n' });
    const saved = await ada.save();
    harm(index);
    // The daemon goes on, and so does the next one.
    write(ada.folder, { new: 'n2\n' });
    const next = await ada.save();
    expect(next?.changes).toEqual(saved?.changes);
    harm(index);
    const found = await (await openStage({ root })).workspaces.open(name, { base: checkout.head });
    expect(await found.save()).toMatchObject({ tree: next?.tree });
    await found.refresh(checkout.head);
    expect(contents(found.folder)).toEqual({ ...contents(checkout.folder), 'x.log': 'forced\n' });
  });

  test.for([1, 5])('an index without its page %i is made again', async (page) => {
    const { root, name, checkout, workspaces, places } = nextStage();
    const ada = await workspaces.open(name, { base: checkout.head });
    write(
      ada.folder,
      Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`file-with-a-name-${at}.ts`, `${at}\n`])),
    );
    const saved = await ada.save();
    const index = join(places.indexes, name.team, 'ada/index');
    const bytes = readFileSync(index);
    bytes.fill(0, page * 4096, (page + 1) * 4096);
    writeFileSync(index, bytes);
    write(ada.folder, { new: 'n\n' });
    const found = await (await openStage({ root })).workspaces.open(name, { base: checkout.head });
    const next = await found.save();
    expect(next?.changes).toHaveLength(301);
    expect((await found.saves()).map(({ commit }) => commit)).toEqual([next?.commit, saved?.commit]);
  });

  test('what a killed daemon left goes, and nothing that only has a name like it', async () => {
    const root = newProject();
    plainGit(join(root, 'project'), 'branch', 'tmp_side');
    const { checkout, workspaces, places, depot } = await openStage({ root });
    const names = ['tmp_team', 'objects'].map((team) => ({ team, member: 'tmp_ada' }));
    const saves = [];
    for (const name of names) {
      const workspace = await workspaces.open(name, { base: checkout.head });
      write(workspace.folder, { new: 'n\n' });
      saves.push(await workspace.save());
    }
    const about = join(places.indexes, 'objects/tmp_ada');
    const left = [join(about, 'tmp_1'), join(about, 'index.lock'), join(depot.dir, 'refs/saves/x.lock')];
    left.push(
      join(depot.dir, 'objects/tmp_obj_1'),
      join(depot.dir, 'objects/pack/.tmp-1-pack'),
      join(depot.dir, 'config.lock'),
    );
    for (const path of left) writeFileSync(path, '');
    const refs = plainGit(depot.dir, 'for-each-ref');
    const next = await openStage({ root });
    expect(left.filter((path) => existsSync(path))).toEqual([]);
    expect(plainGit(depot.dir, 'for-each-ref')).toBe(refs);
    for (const [at, name] of names.entries()) {
      const found = await next.workspaces.open(name, { base: checkout.head });
      expect(found.opened.how).toBe('found');
      expect(await found.saves()).toMatchObject([{ commit: saves[at]?.commit }]);
    }
  });

  test('a folder that is gone comes back as it was last saved', async () => {
    const { root, name, checkout, workspaces } = nextStage();
    const ada = await workspaces.open(name, { base: checkout.head });
    write(ada.folder, { new: 'n\n' });
    const saved = await ada.save();
    rmSync(ada.folder, { recursive: true });
    const found = await (await openStage({ root })).workspaces.open(name, { base: checkout.head });
    expect(found.opened.how).toBe('again');
    expect(await found.save()).toMatchObject({ tree: saved?.tree });
    expect(readFileSync(join(found.folder, 'new'), 'utf8')).toBe('n\n');
  });
});

test('a folder goes on from another base if the depot lost its own, and tells which depot it borrows from', async () => {
  const { root, checkout, workspaces, depot, places } = await openStage();
  const { head } = checkout;
  const tree = await depot.handle.treeOf(head);
  const base = await depot.commit({ tree, parents: [head], message: 'm', author: { name: 'A', email: 'a' }, at: 0 });
  const ada = await workspaces.open(ADA, { base });
  write(ada.folder, { 'src/a.ts': 'work\n' });
  expect(await teamsWithFolders(places)).toEqual(['alpha']);
  expect(await depotOfTeam(places, 'alpha')).toBe(depot.id);
  expect(await depotOfTeam(places, 'beta')).toBeUndefined();
  expect([...(await borrowedDepots(places))]).toContain(depot.dir);
  // An agent may have removed its .git.
  rmSync(join(ada.folder, '.git'), { recursive: true });
  expect([...(await borrowedDepots(places))]).toContain(depot.dir);
  rmSync(depot.dir, { recursive: true });
  expect(await depotOfTeam(places, 'alpha')).toBeUndefined();

  const next = await openStage({ root });
  const found = await next.workspaces.open(ADA, { base: head });
  expect([found.opened.how, found.base]).toEqual(['found', head]);
  expect((await found.save())?.changes).toEqual([{ path: 'src/a.ts', status: 'modified' }]);
  expect(plainGit(found.folder, 'rev-parse', 'HEAD')).toBe(head);
  // One of another depot is none of ours.
  const state = join(places.indexes, 'alpha/ada/state.json');
  writeFileSync(state, readFileSync(state, 'utf8').replace(depot.id, '0'.repeat(16)));
  expect(await next.workspaces.list()).toEqual([]);
  // In the trash it borrows on.
  const { trash = '' } = await found.close({ tip: head });
  expect(existsSync(join(trash, '.git'))).toBe(true);
  expect(await teamsWithFolders(places)).toEqual(['alpha']);
  expect([...(await borrowedDepots(places))]).toContain(depot.dir);
});

describe('a refresh', () => {
  test('brings the folder to the tip in place, and ignored files stay', async () => {
    const { root, checkout, workspaces } = await openStage();
    const ada = await workspaces.open(ADA, { base: checkout.head });
    write(ada.folder, { 'node_modules/x/index.js': 'x\n', 'src/a.ts': 'old work\n' });
    chmodSync(join(ada.folder, 'README.md'), 0o755);
    write(checkout.folder, { 'src/b.ts': 'b2\n', 'src/new/c.ts': 'c\n' });
    rmSync(join(checkout.folder, 'docs'), { recursive: true });
    commitAll(checkout.folder);
    const next = await openStage({ root });
    const tip = next.checkout.head;
    const again = await next.workspaces.open(ADA, { base: tip });
    expect(again.base).toBe(checkout.head);
    const saved = await again.refresh(tip);
    expect(saved?.changes.map(({ path }) => path)).toEqual(['README.md', 'src/a.ts']);
    expect(again.base).toBe(tip);
    expect(contents(again.folder, ['.git', 'node_modules'])).toEqual(contents(checkout.folder));
    expect(existsSync(join(again.folder, 'node_modules/x/index.js'))).toBe(true);
    expect(plainGit(again.folder, 'status', '--porcelain')).toBe('');
    expect(plainGit(again.folder, 'rev-parse', 'HEAD')).toBe(tip);
    expect(await again.save()).toMatchObject({ commit: tip, unchanged: true });
    expect(await again.saves()).toHaveLength(1);
  });

  test('refuses to overwrite a file that no save has, and changes nothing', async () => {
    const { checkout, workspaces, depot } = await openStage();
    const ada = await workspaces.open(ADA, { base: checkout.head });
    write(ada.folder, { '.env': 'mine\n', 'build.log': 'mine\n' });
    symlinkSync('/etc/passwd', join(ada.folder, 'x.log'));
    write(checkout.folder, {
      '.env': 'theirs\n',
      'build.log/part': 'theirs\n',
      'x.log': 'theirs\n',
      'other.ts': 'o\n',
    });
    plainGit(checkout.folder, 'add', '-f', '.');
    const tip = commitAll(checkout.folder);
    await depot.take({ ...checkout, head: tip });
    const before = contents(ada.folder);
    await expect(ada.refresh(tip)).rejects.toMatchObject({ code: 'conflict' });
    expect(contents(ada.folder)).toEqual(before);
    expect(ada.base).toBe(checkout.head);
    expect(await ada.save()).toMatchObject({ unchanged: true });
    for (const name of ['.env', 'build.log', 'x.log']) rmSync(join(ada.folder, name));
    await ada.refresh(tip);
    expect(contents(ada.folder)).toEqual(contents(checkout.folder));
  });
});
