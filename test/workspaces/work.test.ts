import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cloneWorkspaces } from '../../src/workspaces/clone.ts';
import type { LeftOut, Workspace } from '../../src/workspaces/workspace.ts';
import { failingGit } from './failing-git.ts';
import { commitAll, newProject, openStage, plainGit, shareStage, write } from './project.ts';

let failing: ReturnType<typeof failingGit>;
let tip: string;

/** A project with a later tip that adds an ignored file, on a git that can be made to fail. */
const nextStage = shareStage(async () => {
  const root = newProject({ lasting: true });
  failing = failingGit(root);
  const stage = await openStage({ root, program: failing.program });
  write(stage.checkout.folder, { 'later.ts': 'later\n', 'x.log': 'of the tip\n', 'docs/guide.md': 'tip\n' });
  plainGit(stage.checkout.folder, 'add', '-f', '.');
  tip = commitAll(stage.checkout.folder);
  await stage.depot.take({ ...stage.checkout, head: tip });
  return stage;
});

async function openOne() {
  const stage = nextStage();
  const work = await stage.workspaces.open(stage.name, { base: stage.checkout.head });
  return { ...stage, ...failing, work, about: join(stage.places.indexes, stage.name.team, 'ada') };
}

/** The same folder, as the next daemon opens it. */
function reopen({ places, depot, checkout, name }: Awaited<ReturnType<typeof openOne>>): Promise<Workspace> {
  return cloneWorkspaces({ places, depot, checkout }).open(name, { base: checkout.head });
}

const textIn = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');

describe('a workspace', () => {
  test('is opened although a killed command left its lock and the agent removed .git', async () => {
    const stage = await openOne();
    rmSync(join(stage.work.folder, '.git'), { recursive: true });
    writeFileSync(join(stage.about, 'index.lock'), '');
    const again = await reopen(stage);
    expect(again.opened.how).toBe('found');
    expect(plainGit(again.folder, 'status', '--porcelain')).toBe('');
    // A .git that is there stays as it is.
    write(again.folder, { '.git/own-note': 'mine\n' });
    expect(textIn((await reopen(stage)).folder, '.git/own-note')).toBe('mine\n');
    writeFileSync(join(stage.about, 'state.json'), '{');
    await expect(again.save().then(() => reopen(stage))).resolves.toMatchObject({ opened: { how: 'new' } });
  });

  test('that is made again has its tasks, its last save and a new index', async () => {
    const { work, name, checkout, workspaces } = await openOne();
    write(work.folder, { 'src/a.ts': 'work\n', 'x.log': 'in no save\n' });
    await work.workOn(['1', '2']);
    const saved = (await work.save())!;
    rmSync(work.folder, { recursive: true });
    expect(await work.size()).toBe(0);
    expect(await work.save()).toMatchObject({ commit: saved.commit, unchanged: true });
    expect(await work.size()).toBeGreaterThan(0);
    expect(work.tasks).toEqual(['1', '2']);
    expect(work.opened.how).toBe('again');
    expect(await workspaces.open(name, { base: checkout.head })).toBe(work);
  });

  test('that is closed refuses calls, and is found nowhere', async () => {
    const { work, name, about, checkout, workspaces, places } = await openOne();
    const closed = await work.close({ tip: checkout.head });
    expect(closed.kept).toBeUndefined();
    expect(existsSync(join(closed.trash ?? '', 'README.md'))).toBe(true);
    expect([existsSync(about), existsSync(work.folder)]).toEqual([false, false]);
    for (const call of [() => work.save(), () => work.saves(), () => work.close({ tip })]) {
      await expect(call()).rejects.toMatchObject({
        code: 'conflict',
        message: 'The workspace of ada is closed: open it again',
      });
    }
    expect((await workspaces.list()).map(({ team }) => team)).not.toContain(name.team);
    const next = await workspaces.open(name, { base: checkout.head });
    expect([next === work, next.opened.how]).toEqual([false, 'new']);
    // The folder may be gone when it is closed.
    rmSync(next.folder, { recursive: true });
    const before = readdirSync(places.trash);
    expect(await next.close({ tip: checkout.head })).toEqual({});
    expect(readdirSync(places.trash)).toEqual(before);
  });
});

describe('a refresh', () => {
  test('tells which files it moved away, and only if there are some', async () => {
    const { work, checkout, places } = await openOne();
    const told: (readonly string[])[] = [];
    const onInTheWay = (paths: readonly string[]) => void told.push(paths);
    await work.refresh(checkout.head, { onInTheWay });
    expect(told).toEqual([]);
    write(work.folder, { 'x.log': 'mine\n' });
    await work.refresh(tip, { onInTheWay });
    expect(told).toEqual([['x.log']]);
    expect(textIn(work.folder, 'x.log')).toBe('of the tip\n');
    const trash = readdirSync(places.trash).map((name) => join(places.trash, name));
    expect(trash.filter((path) => existsSync(join(path, 'x.log')) && textIn(path, 'x.log') === 'mine\n')).toHaveLength(
      1,
    );
  });

  test('that failed in the middle is finished by the next call, and by the next daemon', async () => {
    for (const isNext of [false, true]) {
      const stage = await openOne();
      const { work, failAt, hasFailed } = stage;
      write(work.folder, { 'src/a.ts': 'work\n' });
      failAt('read-tree half');
      await expect(work.refresh(tip)).rejects.toMatchObject({ code: 'storage' });
      expect(hasFailed()).toBe(true);
      const next = isNext ? await reopen(stage) : work;
      expect(await next.save()).toMatchObject({ commit: tip, unchanged: true });
      expect(next.base).toBe(tip);
      expect(textIn(next.folder, 'x.log')).toBe('of the tip\n');
      expect(plainGit(next.folder, 'rev-parse', 'HEAD')).toBe(tip);
    }
  });

  test('saves what changed since the last save, and leaves nothing beside the index', async () => {
    const { work, about } = await openOne();
    write(work.folder, { 'src/a.ts': 'one\n' });
    await work.save();
    await work.saves(1);
    write(work.folder, { 'src/a.ts': 'two\n' });
    const saved = await work.refresh(tip);
    expect(saved).toMatchObject({ unchanged: false, changes: [{ path: 'src/a.ts' }] });
    expect(plainGit(work.folder, 'show', `${saved!.commit}:src/a.ts`)).toBe('two');
    expect(plainGit(work.folder, 'status', '--porcelain')).toBe('');
    await expect.poll(() => readdirSync(about).toSorted()).toEqual(['copied', 'index', 'state.json']);
  });

  test('that git refuses is as if it had not begun', async () => {
    const { work, checkout, failAt } = await openOne();
    write(work.folder, { 'src/a.ts': 'work\n' });
    failAt('read-tree meanwhile', `echo meanwhile > ${work.folder}/docs/guide.md`);
    await expect(work.refresh(tip)).rejects.toMatchObject({ code: 'conflict' });
    expect((await work.save())!.changes.map(({ path }) => path)).toEqual(['docs/guide.md', 'src/a.ts']);
    expect([work.base, textIn(work.folder, 'docs/guide.md')]).toEqual([checkout.head, 'meanwhile\n']);
    await work.refresh(tip);
    expect([work.base, textIn(work.folder, 'docs/guide.md')]).toEqual([tip, 'tip\n']);
  });

  test('keeps a save of the same base by a ref of its own, if the folder goes on without it', async () => {
    const { work, name, checkout, depot, failAt } = await openOne();
    const earlier = async () => {
      const ref = `refs/earlier/${name.team}/ada`;
      return (await depot.handle.run(['for-each-ref', '--format=%(objectname)', ref])).out.toString().trim();
    };
    write(work.folder, { 'src/a.ts': 'one\n' });
    const one = (await work.save())!;
    // The same files again are no reason.
    await work.lay(one.tree, checkout.head);
    expect(await earlier()).toBe('');
    await work.refresh(checkout.head);
    expect(await earlier()).toBe(one.commit);
    expect(textIn(work.folder, 'src/a.ts')).not.toBe('one\n');
    // What is laid carries the save on.
    await work.restore(one.commit);
    write(work.folder, { 'src/b.ts': 'two\n' });
    const two = (await work.save())!;
    const before = await earlier();
    await work.lay(one.tree, checkout.head);
    expect(await earlier()).toBe(before);
    expect((await work.saves()).map(({ commit }) => commit)).toContain(two.commit);
    // Half of a tree is nobody's work.
    failAt('read-tree half');
    write(work.folder, { 'src/b.ts': 'three\n' });
    const three = (await work.save())!;
    await expect(work.refresh(checkout.head)).rejects.toMatchObject({ code: 'storage' });
    await work.save();
    expect((await earlier()).split('\n').toSorted()).toEqual([...before.split('\n'), three.commit].toSorted());
    await expect(work.restore('0'.repeat(40))).rejects.toMatchObject({
      code: 'not_found',
      message: `ada has no save ${'0'.repeat(40)}`,
    });
  });
});

test('a folder that becomes a link during a save is not saved', async () => {
  const { work, failAt, root, depot, name } = await openOne();
  const [moved, elsewhere] = [`${work.folder}-moved`, join(root, 'elsewhere')];
  write(elsewhere, { 'not~plain': 'of somebody else\n' });
  for (const path of ['not~plain', 'plain']) {
    write(work.folder, { [path]: 'mine\n' });
    failAt(
      `${path === 'plain' ? 'ls-files' : '--add'} meanwhile`,
      `mv ${work.folder} ${moved}; ln -s ${elsewhere} ${work.folder}`,
    );
    await expect(work.save(), path).rejects.toMatchObject({ code: 'conflict' });
    rmSync(work.folder);
    renameSync(moved, work.folder);
    expect(await depot.handle.readRef(`refs/saves/${name.team}/ada`)).toBeUndefined();
  }
  expect((await work.save())!.changes.map(({ path }) => path)).toEqual(['not~plain', 'plain']);
});

test('what is left out goes to the trash, and git writes a file of the project again', async () => {
  const { work, failAt, hasFailed } = await openOne();
  failAt('ls-tree');
  expect(await work.discard([])).toEqual([]);
  expect(hasFailed()).toBe(false);
  failAt('never');
  write(work.folder, {
    'README.md': 'large\n',
    'src/a.ts': 'odd\n',
    'src/b.ts': 'odd\n',
    new: 'new\n',
    '.env': 'KEY\n',
  });
  const leftOut: LeftOut[] = [
    { path: 'README.md', reason: 'file-size' },
    { path: 'src/a.ts', reason: 'work-size' },
    { path: 'src/b.ts', reason: 'unreadable' },
    { path: '.env', reason: 'copied' },
    { path: 'new', reason: 'unreadable' },
    { path: 'gone/', reason: 'nested-repository' },
  ];
  expect(await work.discard(leftOut)).toEqual(['README.md', 'src/a.ts', 'new']);
  expect(textIn(work.folder, 'README.md')).toBe('A project\n');
  expect(textIn(work.folder, 'src/a.ts')).toBe('one\ntwo\nthree\nfour\nfive\nsix\nseven\n');
  expect(textIn(work.folder, 'src/b.ts')).toBe('odd\n');
  expect([existsSync(join(work.folder, 'new')), textIn(work.folder, '.env')]).toEqual([false, 'KEY\n']);
  expect((await work.save())!.changes).toEqual([{ path: 'src/b.ts', status: 'modified' }]);
});
