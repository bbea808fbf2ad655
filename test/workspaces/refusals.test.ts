import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listTrash } from '../../src/workspaces/places.ts';
import { startFixture } from '../journal/children.ts';
import { needTool } from '../tools.ts';
import { failingGit } from './failing-git.ts';
import { commitAll, contents, newProject, openStage, plainGit, shareStage, write } from './project.ts';

const ADA = { team: 'alpha', member: 'ada' };

let failing: ReturnType<typeof failingGit>;

/** A commit of the project, and its files. */
interface Point {
  readonly commit: string;
  readonly files: Record<string, string>;
}
/** One after the other. The last one has files that are ignored. */
let [base, tip, ignored]: Point[] = [];

const nextStage = shareStage(async () => {
  const root = newProject({ lasting: true });
  failing = failingGit(root);
  const project = join(root, 'project');
  base = { commit: plainGit(project, 'rev-parse', 'HEAD'), files: contents(project) };
  write(project, { 'src/a.ts': 'tip\n', 'tip.ts': 'tip\n' });
  tip = { commit: commitAll(project), files: contents(project) };
  write(project, { 'build.log': 'tip\n', 'out.log/deep/x.log': 'x\n', 'gen/a.js': 'a\n' });
  write(project, { '.gitignore': 'gen/\n*.log\n.env\n' });
  plainGit(project, 'add', '-f', '.');
  ignored = { commit: commitAll(project), files: contents(project) };
  return openStage({ root, program: failing.program });
});

/** A workspace on a git that can be made to fail. */
async function openFailing() {
  const stage = nextStage();
  const ada = await stage.workspaces.open(stage.name, { base: base!.commit });
  const ref = `refs/saves/${stage.name.team}/ada`;
  const reopen = async () => {
    const next = await openStage({ root: stage.root, program: failing.program });
    return next.workspaces.open(stage.name, { base: base!.commit });
  };
  return { ...stage, ...failing, ada, ref, reopen };
}

describe('a git command that fails', () => {
  test.for([
    'diff-files',
    'ls-files',
    '--force-remove',
    '--add',
    'write-tree',
    'diff-index',
    'commit-tree',
    'update-ref',
  ])('(%s) fails a save whole that is made in the usual way, and the next save has everything', async (step) => {
    const { ada, ref, depot, failAt, hasFailed } = await openFailing();
    write(ada.folder, { 'src/a.ts': 'first\n', 'old~': 'old\n' });
    await ada.save();
    // Git makes the commit and moves the ref if the save before is packed.
    if (step === 'commit-tree' || step === 'update-ref') await depot.tidy();
    write(ada.folder, { 'src/a.ts': 'work\n', 'new~': 'new\n' });
    for (const name of ['README.md', 'old~']) rmSync(join(ada.folder, name));
    const before = await depot.handle.readRef(ref);
    failAt(step);
    await expect(ada.save()).rejects.toMatchObject({ code: 'storage' });
    expect(hasFailed()).toBe(true);
    expect(await depot.handle.readRef(ref)).toBe(before);
    const saved = await ada.save();
    expect(saved?.unchanged).toBe(false);
    expect(plainGit(depot.dir, 'show', `${saved?.commit}:src/a.ts`)).toBe('work');
    expect(saved?.changes.map(({ path }) => path)).toEqual(['README.md', 'new~', 'src/a.ts']);
  });

  test('leaves the depot whole', async () => {
    expect(await nextStage().depot.check()).toEqual([]);
  });

  test('after it moved the ref fails the save, and the next save goes on from there', async () => {
    const { ada, ref, depot, failAt } = await openFailing();
    write(ada.folder, { 'old~': 'old\n' });
    await ada.save();
    write(ada.folder, { 'src/a.ts': 'done\n', 'not~plain': 'x\n' });
    await depot.tidy();
    failAt('update-ref after');
    await expect(ada.save()).rejects.toMatchObject({ code: 'storage' });
    const saved = await ada.save();
    expect(plainGit(depot.dir, 'show', `${saved?.commit}:src/a.ts`)).toBe('done');
    expect(await depot.handle.readRef(ref)).toBe(saved?.commit);
  });

  test('killed with the lock of the index fails one call, and the next one works', async () => {
    const { ada, depot, failAt, hasFailed } = await openFailing();
    for (const step of ['--add', 'write-tree']) {
      write(ada.folder, { 'src/a.ts': `${step}\n`, 'not~plain': `${step}\n` });
      failAt(`${step} locked`);
      await expect(ada.save(), step).rejects.toMatchObject({ code: 'storage' });
      expect(hasFailed(), step).toBe(true);
      const saved = await ada.save();
      expect(plainGit(depot.dir, 'show', `${saved?.commit}:src/a.ts`)).toBe(step);
    }
    failAt('read-tree locked');
    await expect(ada.refresh(base!.commit)).rejects.toMatchObject({ code: 'storage' });
    await ada.refresh(base!.commit);
    expect(contents(ada.folder)).toEqual(base!.files);
  });

  test.for([
    ['diff-tree', 'call'],
    ['read-tree', 'call'],
    ['--stage', 'call'],
    ['read-tree', 'daemon'],
    ['--stage', 'daemon'],
  ] as const)('(%s) fails a refresh, which is finished by the next %s', async ([step, next]) => {
    const { ada, reopen, failAt, hasFailed } = await openFailing();
    write(ada.folder, { 'src/b.ts': 'work\n' });
    const saved = await ada.save();
    failAt(step);
    await expect(ada.refresh(tip!.commit)).rejects.toMatchObject({ code: 'storage' });
    expect(hasFailed()).toBe(true);
    const again = next === 'daemon' ? await reopen() : ada;
    await again.refresh(tip!.commit);
    expect(again.base).toBe(tip!.commit);
    expect(contents(again.folder)).toEqual(tip!.files);
    expect((await again.saves()).map(({ commit }) => commit)).toContain(saved?.commit);
    expect(readFileSync(join(again.folder, '.git/HEAD'), 'utf8').trim()).toBe(tip!.commit);
  });

  test.for(['call', 'daemon'] as const)(
    'killed in the middle of a refresh leaves nothing that is in the way of the next %s',
    async (next) => {
      const { ada, places, reopen, failAt, hasFailed } = await openFailing();
      write(ada.folder, { '.env': 'mine\n', 'src/b.ts': 'work\n' });
      const saved = await ada.save();
      failAt('read-tree half');
      await expect(ada.refresh(ignored!.commit)).rejects.toMatchObject({ code: 'storage' });
      expect(hasFailed()).toBe(true);
      // One file was only written to its half; into another somebody wrote since.
      write(ada.folder, { 'build.log': 'ti', 'out.log/deep/x.log': 'mine\n' });
      const again = next === 'daemon' ? await reopen() : ada;
      await again.save();
      expect(again.base).toBe(ignored!.commit);
      expect(contents(again.folder)).toEqual({ ...ignored!.files, '.env': 'mine\n' });
      expect((await again.saves()).map(({ commit }) => commit)).toContain(saved?.commit);
      const [trash = ''] = (await listTrash(places)).slice(-1).map(({ path }) => path);
      expect(contents(trash)).toMatchObject({ 'out.log/deep/x.log': 'mine\n' });
    },
  );

  test('fails an opening, which leaves nothing behind', async () => {
    const root = newProject();
    const { program, failAt } = failingGit(root);
    const { checkout, workspaces, places } = await openStage({ root, program });
    for (const step of ['read-tree', '--stage', 'for-each-ref']) {
      failAt(step);
      await expect(workspaces.open(ADA, { base: checkout.head }), step).rejects.toMatchObject({ code: 'storage' });
      expect(existsSync(join(places.workspaces, 'alpha/ada'))).toBe(false);
      expect(await workspaces.list()).toEqual([]);
    }
    const ada = await workspaces.open(ADA, { base: checkout.head });
    expect(ada.opened.how).toBe('new');
    await expect(workspaces.open({ team: 'alpha', member: '../x' }, { base: checkout.head })).rejects.toMatchObject({
      code: 'invalid',
    });
  });
});

test.for([
  ['quick', '', ['tmp_pack', 'tmp_idx', 'refs/saves/alpha/ada', 'objects/pack', 'refs/saves/alpha']],
  ['usual', '~', ['bulk_fsync', 'bulk_fsync', 'tmp_obj_', 'refs/saves/alpha/ada', 'refs/saves/alpha']],
] as const)(
  'a %s save is flushed before it is acknowledged: files, trees, the commit, the ref, and their names; as often however many files',
  async ([, sign, flushes], context) => {
    needTool(context, 'strace');
    const root = newProject();
    const log = join(root, 'calls');
    const prefix = ['strace', '-f', '-y', '-qq', '-o', log, '-e', 'trace=fsync,fdatasync,write'];
    const saver = startFixture('workspace-saver', [root, `3${sign}`, `100${sign}`], { prefix });
    expect(await saver.ended).toMatchObject({ code: 0 });
    const calls = readFileSync(log, 'utf8').matchAll(
      /sync\(\d+<\S*?(bulk_fsync|tmp_obj_|tmp_pack|tmp_idx|refs\/saves\/alpha\/ada|objects\/pack(?=>)|refs\/saves\/alpha(?=>))|write\(1<\S*, "(saved \d+)/g,
    );
    const found = [...calls].map(([, flushed, saved]) => flushed ?? saved);
    // Before that, git makes the first commit of the workspace.
    expect(found.slice(found.indexOf('saved 1') + 1)).toEqual([...flushes, 'saved 3', ...flushes, 'saved 100']);
  },
);
