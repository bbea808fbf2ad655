import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { rounds } from '../proof.ts';
import { failingGit } from './failing-git.ts';
import { newProject, openStage, plainEnvironment, plainGit, shareStage, write } from './project.ts';

let failing: ReturnType<typeof failingGit>;

const nextStage = shareStage(() => {
  const root = newProject({ lasting: true });
  failing = failingGit(root);
  return openStage({ root, program: failing.program });
});

/** A workspace with a first save, on a git that can be made to fail. */
async function openFailing() {
  const stage = nextStage();
  const ada = await stage.workspaces.open(stage.name, { base: stage.checkout.head });
  write(ada.folder, { first: 'first\n' });
  await ada.save();
  const filesOf = (commit = '') => plainGit(stage.depot.dir, 'ls-tree', '-r', '--name-only', commit).split('\n');
  return { ...stage, ...failing, ada, filesOf };
}

describe('after a quick save is acknowledged, its index catches up', () => {
  const ROUNDS = ['--force-remove', '--add', 'write-tree'].flatMap((step) =>
    ['', ' half', ' locked'].flatMap((how) =>
      (['save', 'daemon'] as const).map((who) => [`${step}${how}`, who] as const),
    ),
  );

  test.for(ROUNDS)('if %s fails then, the next %s has everything', async ([step, who]) => {
    const { root, name, program, ada: first, checkout, failAt, hasFailed, filesOf } = await openFailing();
    let ada = first;
    write(ada.folder, { new: 'new\n', 'src/a.ts': 'new\n', first: 'f\n' });
    rmSync(join(ada.folder, 'README.md'));
    await ada.save();
    await ada.saves(1);
    write(ada.folder, { new: 'edited\n', other: 'other\n' });
    rmSync(join(ada.folder, 'first'));
    failAt(step);
    const saved = await ada.save();
    expect(saved?.unchanged).toBe(false);
    expect(filesOf(saved?.commit)).toContain('other');
    // The next call waits for it.
    await ada.saves(1);
    expect(hasFailed()).toBe(true);

    // A new file that the index may not know goes, one that it may still have comes back.
    rmSync(join(ada.folder, 'other'));
    write(ada.folder, { first: 'back\n' });
    if (who === 'daemon') {
      const { workspaces } = await openStage({ root, program });
      ada = await workspaces.open(name, { base: checkout.head });
    }
    const next = await ada.save();
    expect(filesOf(next?.commit)).toEqual(['.gitignore', 'docs/guide.md', 'first', 'new', 'src/a.ts', 'src/b.ts']);
    expect(next?.changes.map(({ path }) => path)).toEqual(['README.md', 'first', 'new', 'src/a.ts']);
    expect(await ada.save()).toMatchObject({ commit: next?.commit, unchanged: true });
  });

  test('all of that leaves the depot whole', async () => {
    expect(await nextStage().depot.check()).toEqual([]);
  });

  test('a save of an unchanged folder does not start the import', async () => {
    const { ada, failAt, hasFailed } = await openFailing();
    write(ada.folder, { second: 'second\n' });
    const saved = await ada.save();
    await ada.saves(1);
    failAt('fast-import');
    expect(await ada.save()).toEqual({ ...saved, unchanged: true });
    expect(hasFailed()).toBe(false);
    failAt('never');
  });

  test('a folder is saved as usual once git has made something else of three quick saves', async () => {
    const { ada, failAt, hasFailed } = await openFailing();
    const isQuick = async (text: string) => {
      write(ada.folder, { 'src/a.ts': text });
      failAt('fast-import meanwhile');
      await ada.save();
      const started = hasFailed();
      await ada.saves(1);
      failAt('never');
      return started;
    };
    // A file that changes again is no reason.
    for (let again = 0; again < 3; again++) {
      write(ada.folder, { 'src/a.ts': `${again}\n` });
      failAt('--add meanwhile', `echo again ${again} > ${ada.folder}/src/a.ts`);
      await ada.save();
      await ada.saves(1);
      expect(hasFailed()).toBe(true);
      await ada.save();
    }
    for (let doubts = 0; doubts < 3; doubts++) {
      expect(await isQuick(`${doubts}\n`)).toBe(true);
      // Its own index has lost a file when it catches up.
      write(ada.folder, { 'src/a.ts': `${doubts}, edited\n` });
      failAt('write-tree meanwhile', 'git update-index --force-remove docs/guide.md');
      await ada.save();
      await ada.saves(1);
      expect(hasFailed()).toBe(true);
      expect((await ada.save())?.changes.map(({ path }) => path)).toEqual(['first', 'src/a.ts']);
    }
    expect(await isQuick('last\n')).toBe(false);
  });

  test('a file that changes again meanwhile is in the next save', async () => {
    const { ada, depot, failAt, hasFailed } = await openFailing();
    write(ada.folder, { 'src/a.ts': 'saved\n' });
    failAt('--add meanwhile', `echo again > ${ada.folder}/src/a.ts`);
    const saved = await ada.save();
    expect(plainGit(depot.dir, 'show', `${saved?.commit}:src/a.ts`)).toBe('saved');
    await ada.saves(1);
    expect(hasFailed()).toBe(true);
    const next = await ada.save();
    expect(next).toMatchObject({ unchanged: false, changes: [{ path: 'first' }, { path: 'src/a.ts' }] });
    expect(plainGit(depot.dir, 'show', `${next?.commit}:src/a.ts`)).toBe('again');
  });
});

describe('a quick save that fails', () => {
  test.for(['fast-import', 'fast-import after', 'fast-import locked', 'fast-import large'])(
    '(%s) is made in the usual way, and leaves nothing behind',
    async (step) => {
      const { name, ada, depot, failAt, hasFailed } = await openFailing();
      write(ada.folder, { 'src/a.ts': 'work\n', large: randomBytes(100_000) });
      failAt(step);
      const saved = await ada.save();
      expect(hasFailed()).toBe(true);
      expect(plainGit(depot.dir, 'show', `${saved?.commit}:src/a.ts`)).toBe('work');
      expect(await depot.handle.readRef(`refs/saves/${name.team}/ada`)).toBe(saved?.commit);
      expect(await ada.save()).toMatchObject({ commit: saved?.commit, unchanged: true });
      expect(readdirSync(depot.dir).filter((name) => name.includes('crash'))).toEqual([]);
      expect(readdirSync(join(depot.dir, 'objects/pack')).filter((name) => name.startsWith('tmp'))).toEqual([]);
      expect(await depot.check()).toEqual([]);
    },
  );

  test('that is stopped is not made, and the next one works', async () => {
    const { ada, failAt } = await openFailing();
    write(ada.folder, { 'src/a.ts': 'work\n' });
    const stop = new AbortController();
    failAt('fast-import meanwhile', `sleep 60`);
    const save = ada.save(stop.signal);
    stop.abort(new Error('enough'));
    await expect(save).rejects.toThrow('enough');
    failAt('never');
    expect(await ada.save()).toMatchObject({ unchanged: false, changes: [{ path: 'first' }, { path: 'src/a.ts' }] });
  });
});

// Without a merge there would be more than 30 packs.
const SAVES = rounds(33, 500);

test(`${SAVES} quick saves leave few packs, while others read all of them in a folder that borrows them`, async () => {
  const { checkout, workspaces, depot } = await openStage();
  const ada = await workspaces.open({ team: 'alpha', member: 'ada' }, { base: checkout.head });
  write(ada.folder, { number: 'first\n' });
  const first = await ada.save();
  // Objects of the depot, from a folder that borrows them.
  const env = plainEnvironment(depot.dir);
  const read = (commit = '') =>
    promisify(execFile)('git', ['log', '-p', '--format=%H', commit], { cwd: ada.folder, env });
  const commits = [first?.commit];
  let most = 0;
  for (let number = 0; number < SAVES; number++) {
    write(ada.folder, { number: `${number}\n`, [`d${number % 7}/file`]: `${number}\n`.repeat(50) });
    // One reads while the save is made, and one while its index catches up and packs become one.
    const reading = [read(commits.at(-1))];
    commits.push((await ada.save())?.commit);
    reading.push(read(commits.at(-1)));
    // Until its index has caught up: an edit before that is found, but not quickly.
    await ada.saves(1);
    for (const { stdout, stderr } of await Promise.all(reading)) {
      expect(stdout).toContain(`${first?.commit}\n`);
      expect(stderr).toBe('');
    }
    const packs = readdirSync(join(depot.dir, 'objects/pack')).filter((name) => name.endsWith('.pack'));
    most = Math.max(most, packs.length);
  }
  expect(most).toBeLessThan(30);
  expect(most).toBeGreaterThan(10);
  expect((await ada.saves()).map(({ commit }) => commit)).toEqual(commits.reverse());
  expect(await depot.check()).toEqual([]);
});
