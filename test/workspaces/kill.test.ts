import { existsSync, globSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startFixture } from '../journal/children.ts';
import { mountSmall, needMounts } from '../journal/mounts.ts';
import { rounds, tell } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { commitAll, contents, newProject, openStage, plainGit, write } from './project.ts';

const ROUNDS = rounds(4, 400);
const LONGEST_LIFE_MS = 300;

/** The refs that keep saves: of open workspaces, of those that a restore went back behind, of closed ones. */
const KEEPING = ['saves', 'earlier', 'kept'].map((kind) => `--glob=refs/${kind}`);

/** A project with a base and a later tip. */
function twoCommits(): { root: string; base: string; tip: string } {
  const root = newProject();
  const project = join(root, 'project');
  const base = plainGit(project, 'rev-parse', 'HEAD');
  for (let i = 0; i < 8; i++) write(project, { [`d${i}/f${i % 5}`]: `tip ${i}\n`, [`tip/${i}`]: 'tip\n' });
  // Tracked although they are ignored: a refresh that is killed leaves them in no save.
  for (let i = 0; i < 40; i++) write(project, { [`out/${i}.log`]: 'tip\n'.repeat(100) });
  plainGit(project, 'add', '-f', 'out');
  return { root, base, tip: commitAll(project) };
}

/** So many kills happen to one project. With more, most of the time would go into its thousands of loose objects. */
const PER_PROJECT = 25;

test(`${ROUNDS} times kill -9 loses no acknowledged save, and no folder is half made`, async () => {
  const next = seededRandom();
  const cache = await warmUp();
  let [acknowledged, struck] = [0, 0];
  for (let done = 0; done < ROUNDS; done += PER_PROJECT) {
    const project = await killInProject(next, { times: Math.min(PER_PROJECT, ROUNDS - done), cache });
    acknowledged += project.saved;
    struck += project.struck;
  }
  expect(acknowledged).toBeGreaterThan(0);
  tell({ kills: ROUNDS, saves: acknowledged, debris: struck });
});

/** Fills a cache of compiled code: a fixture that is killed leaves none, and most of its life would be its start. */
async function warmUp(): Promise<string> {
  const cache = temporaryFolder();
  const { root, base, tip } = twoCommits();
  const first = startFixture('workspace-victim', [root, base, tip, 'end'], { cache });
  expect(await first.ended).toEqual({ code: 0, signal: null, errors: '' });
  return cache;
}

async function killInProject(
  next: () => number,
  { times, cache }: { times: number; cache: string },
): Promise<{ saved: number; struck: number }> {
  const { root, base, tip } = twoCommits();
  const saved = new Map<string, string>();
  let struck = 0;
  for (let round = 0; round < times; round++) {
    const victim = startFixture('workspace-victim', [root, base, tip], { cache });
    // Some are killed while they open what the one before has left.
    if (next() < 0.75) await victim.until(3);
    await sleep(next() * LONGEST_LIFE_MS);
    victim.kill('SIGKILL');
    expect(await victim.ended).toEqual({ code: null, signal: 'SIGKILL', errors: '' });
    for (const line of victim.lines) {
      const [word, commit = '', number = ''] = line.split(' ');
      if (word === 'saved') saved.set(commit, number);
    }
    struck += hasDebris(root) ? 1 : 0;

    // The next daemon.
    const { depot, workspaces, places } = await openStage({ root });
    expect(readdirSync(places.making)).toEqual([]);
    const kept = new Set(plainGit(depot.dir, 'rev-list', ...KEEPING).split('\n'));
    expect([...saved.keys()].filter((commit) => !kept.has(commit))).toEqual([]);
    for (const member of ['ada', 'bob']) {
      const workspace = await workspaces.open({ team: 'alpha', member }, { base });
      expect(plainGit(workspace.folder, 'rev-parse', 'HEAD')).toBe(workspace.base);
      const now = await workspace.save();
      expect(now?.leftOut).toEqual([]);
    }
    expect(hasDebris(root)).toBe(false);
  }
  const { depot } = await openStage({ root });
  expect(await depot.check()).toEqual([]);
  const names = [...saved.keys()].map((commit) => `${commit}:number\n`).join('');
  const { out } = await depot.handle.run(['cat-file', '--batch=%(objecttype)'], { input: names });
  expect(out.toString()).toBe([...saved.values()].map((number) => `blob\n${number}\n\n`).join(''));
  return { saved: saved.size, struck };
}

/** Whether a killed daemon left a lock or something half made. */
function hasDebris(root: string): boolean {
  const state = join(root, 'state');
  const locks = globSync(
    ['depots/*/**/*.lock', 'indexes/**/*.lock', 'depots/*/objects/**/tmp_*', 'depots/*/fast_import_crash_*'],
    { cwd: state },
  );
  const making = join(state, 'workspaces/.making');
  return locks.length > 0 || (existsSync(making) && readdirSync(making).length > 0);
}

describe('many at once', () => {
  test('16 workspaces open and save at the same time, and none fails', async () => {
    const { checkout, workspaces, depot } = await openStage();
    const members = Array.from({ length: 16 }, (_, i) => `m${i}`);
    const opened = await Promise.all(
      members.map((member) => workspaces.open({ team: 'alpha', member }, { base: checkout.head })),
    );
    for (const [i, { folder }] of opened.entries()) write(folder, { [`new-${i}`]: `${i}\n`, 'src/b.ts': `${i}\n` });
    const saves = await Promise.all(opened.map((workspace) => workspace.save()));
    expect(new Set(saves.map((save) => save?.commit)).size).toBe(16);
    for (const save of saves) expect(save?.changes).toHaveLength(2);
    expect(await workspaces.list()).toHaveLength(16);
    expect(await depot.check()).toEqual([]);
  });

  test('a save ends when it is stopped, and the next one works', async () => {
    const { checkout, workspaces } = await openStage();
    const ada = await workspaces.open({ team: 'alpha', member: 'ada' }, { base: checkout.head });
    write(ada.folder, { x: 'x\n' });
    const stop = new AbortController();
    const save = ada.save(stop.signal);
    stop.abort(new Error('enough'));
    await expect(save).rejects.toThrow('enough');
    expect(await ada.save()).toMatchObject({ changes: [{ path: 'x' }] });
  });
});

describe('a full disk', () => {
  test('fails a save and a refresh whole; both work again when there is space', async (context) => {
    needMounts(context);
    const root = newProject();
    const project = join(root, 'project');
    const state = join(root, 'state');
    mkdirSync(state);
    const base = plainGit(project, 'rev-parse', 'HEAD');
    write(project, { 'tip.txt': 'tip '.repeat(100_000), 'src/b.ts': 'tip\n' });
    const tip = commitAll(project);
    mountSmall(state, '4m');
    const { workspaces, depot } = await openStage({ root });
    const ada = await workspaces.open({ team: 'alpha', member: 'ada' }, { base });
    write(ada.folder, { 'src/a.ts': 'first\n' });
    const first = await ada.save();

    write(ada.folder, { 'src/a.ts': 'second\n' });
    const ballast = join(state, 'ballast');
    fill(ballast);
    await expect(ada.save()).rejects.toMatchObject({ code: 'storage', facts: { errno: 'ENOSPC' } });
    expect((await ada.saves()).map(({ commit }) => commit)).toEqual([first?.commit]);
    // A file that no git writes.
    fill(`${ballast}-2`);
    await expect(ada.setupDone('setup')).rejects.toMatchObject({ code: 'storage', facts: { errno: 'ENOSPC' } });
    rmSync(`${ballast}-2`);
    rmSync(ballast);
    const second = await ada.save();
    expect(second).toMatchObject({ unchanged: false, leftOut: [] });

    // Room for the save, and not for the files of the tip.
    fill(ballast, 200_000);
    await expect(ada.refresh(tip)).rejects.toMatchObject({ code: 'storage' });
    rmSync(ballast);
    await ada.refresh(tip);
    expect(ada.base).toBe(tip);
    expect(contents(ada.folder)).toEqual(contents(project));
    expect((await ada.saves()).map(({ commit }) => commit)).toContain(second?.commit);
    expect(await depot.check()).toEqual([]);
    expect(existsSync(`${join(state, 'indexes/alpha/ada/index')}.lock`)).toBe(false);
  });
});

/** Takes all space but some. */
function fill(path: string, free = 0): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  writeFileSync(path, Buffer.alloc(bavail * bsize - free, 1));
}
