import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, contents, newProject, openStage, plainGit, shareStage, write } from './project.ts';

/** What an agent does to its own folder; `other` is a repository of the user with work in it. */
type Act = (folder: string, other: string) => void;

function putLink(path: string, target: string): void {
  renameSync(path, `${path}-moved`);
  symlinkSync(target, path);
}

const ACTS: readonly (readonly [string, Act])[] = [
  ['removes it', (folder) => rmSync(folder, { recursive: true })],
  ['puts a link to another repository there', (folder, other) => putLink(folder, other)],
  ['puts a link to a folder there', (folder, other) => putLink(folder, join(other, 'src'))],
  ['puts a link that leads nowhere there', (folder, other) => putLink(folder, join(other, 'nothing'))],
  [
    'puts a file there',
    (folder) => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, 'a file');
    },
  ],
  ["puts a link in place of the team's folder", (folder, other) => putLink(dirname(folder), dirname(other))],
  ["removes the team's folder", (folder) => rmSync(dirname(folder), { recursive: true })],
];

let tip: string;

/** The repository of the user that a link may lead to. It has the member's name: a link in place of the team's folder leads to it. */
const otherIn = (root: string): string => join(root, 'repositories', 'ada');

/** A project with a later tip, and a repository of the user. */
const nextStage = shareStage(async () => {
  const root = newProject({ lasting: true });
  const other = otherIn(root);
  mkdirSync(dirname(other));
  plainGit(root, 'clone', '-q', 'project', other);
  write(other, { 'src/b.ts': 'precious\n', 'user.txt': 'uncommitted\n' });
  const stage = await openStage({ root });
  write(stage.checkout.folder, { 'later.ts': 'later\n' });
  tip = commitAll(stage.checkout.folder);
  await stage.depot.take({ ...stage.checkout, head: tip });
  return stage;
});

/** A workspace with a save. */
async function openSaved() {
  const stage = nextStage();
  const other = otherIn(stage.root);
  const ada = await stage.workspaces.open(stage.name, { base: stage.checkout.head });
  write(ada.folder, { 'src/a.ts': 'work\n', 'new.ts': 'n\n' });
  const saved = (await ada.save())!;
  return { ...stage, other, ada, saved, before: contents(other, []) };
}

describe('an agent that does something to its own folder', () => {
  test.for(ACTS)('%s: it is made again from its last save, and nothing else changes', async ([, act]) => {
    const { root, name, checkout, other, ada, saved, before } = await openSaved();
    const files = contents(ada.folder);
    act(ada.folder, other);
    const again = await ada.save();
    expect(again).toMatchObject({ commit: saved.commit, unchanged: true, leftOut: [] });
    expect(ada.opened.how).toBe('again');
    expect(contents(ada.folder)).toEqual(files);
    expect(plainGit(ada.folder, 'rev-parse', 'HEAD')).toBe(checkout.head);
    // Work goes on in it.
    write(ada.folder, { 'more.ts': 'm\n' });
    const more = await ada.save();
    expect(more?.changes.map(({ path }) => path)).toEqual(['more.ts', 'new.ts', 'src/a.ts']);

    rmSync(`${ada.folder}-moved`, { recursive: true, force: true });
    rmSync(`${dirname(ada.folder)}-moved`, { recursive: true, force: true });
    act(ada.folder, other);
    await ada.refresh(tip);
    expect(contents(ada.folder)).toEqual(contents(checkout.folder));
    expect(plainGit(ada.folder, 'status', '--porcelain')).toBe('');
    expect((await ada.saves()).map(({ commit }) => commit)).toEqual([more?.commit, saved.commit]);

    rmSync(`${ada.folder}-moved`, { recursive: true, force: true });
    rmSync(`${dirname(ada.folder)}-moved`, { recursive: true, force: true });
    act(ada.folder, other);
    const next = await (await openStage({ root })).workspaces.open(name, { base: tip });
    expect(next.opened.how).toBe('again');
    expect(contents(next.folder)).toEqual(contents(checkout.folder));
    expect(contents(other, [])).toEqual(before);
  });

  test.for(ACTS)('%s: it can be closed, and its work is kept', async ([, act]) => {
    const { places, other, ada, saved, before, depot } = await openSaved();
    act(ada.folder, other);
    const { kept } = await ada.close({ tip });
    expect(kept?.commit).toBe(saved.commit);
    expect(await depot.handle.readRef(kept!.ref)).toBe(saved.commit);
    expect(existsSync(ada.folder)).toBe(false);
    expect(contents(other, [])).toEqual(before);
    for (const name of readdirSync(places.trash)) {
      const facts = lstatSync(join(places.trash, name));
      expect(facts.isDirectory() && existsSync(join(places.trash, name, 'user.txt'))).toBe(false);
    }
  });

  test.for(ACTS.slice(0, 2))('%s: whoever asks for the open workspace finds it whole', async ([, act]) => {
    const { name, checkout, workspaces, other, ada, before } = await openSaved();
    const files = contents(ada.folder);
    act(ada.folder, other);
    expect(await workspaces.open(name, { base: checkout.head })).toBe(ada);
    expect(lstatSync(ada.folder).isDirectory()).toBe(true);
    expect(contents(ada.folder)).toEqual(files);
    expect(contents(other, [])).toEqual(before);
  });

  test('puts a link in place of .git: the link is replaced, never followed', async () => {
    const { checkout, other, ada, before } = await openSaved();
    rmSync(join(ada.folder, '.git'), { recursive: true });
    symlinkSync(join(other, '.git'), join(ada.folder, '.git'));
    await ada.refresh(tip);
    expect(lstatSync(join(ada.folder, '.git')).isDirectory()).toBe(true);
    expect(contents(ada.folder)).toEqual(contents(checkout.folder));
    expect(contents(other, [])).toEqual(before);
  });

  test('puts another folder there: what is in it is the work', async () => {
    const { ada, saved } = await openSaved();
    rmSync(ada.folder, { recursive: true });
    write(ada.folder, { 'README.md': 'all new\n' });
    const next = await ada.save();
    expect(next?.changes.filter(({ status }) => status !== 'deleted')).toEqual([
      { path: 'README.md', status: 'modified' },
    ]);
    await ada.restore(saved.commit);
    expect(plainGit(ada.folder, 'status', '--porcelain')).toContain('src/a.ts');
  });
});
