import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listTrash } from '../../src/workspaces/places.ts';
import { startFixture } from '../journal/children.ts';
import { needTool } from '../tools.ts';
import { failingGit } from './failing-git.ts';
import { commitAll, contents, newProject, openStage, plainGit, write } from './project.ts';

const ADA = { team: 'alpha', member: 'ada' };

describe('a git command that fails', () => {
  test('fails a save whole that is made in the usual way, and the next save has everything', async () => {
    const root = newProject();
    const { program, failAt, hasFailed } = failingGit(root);
    const { checkout, workspaces, depot } = await openStage({ root, program });
    const ada = await workspaces.open(ADA, { base: checkout.head });
    const steps = [
      'diff-files',
      'ls-files',
      '--force-remove',
      '--add',
      'write-tree',
      'diff-index',
      'commit-tree',
      'update-ref',
    ];
    for (const [i, step] of steps.entries()) {
      // Git makes the commit and moves the ref if the save before is packed.
      if (step === 'commit-tree' || step === 'update-ref') await depot.tidy();
      write(ada.folder, { 'src/a.ts': `${step}\n`, [`new~${i}`]: 'new\n' });
      rmSync(join(ada.folder, i === 0 ? 'README.md' : `new~${i - 1}`));
      const before = await depot.handle.readRef('refs/saves/alpha/ada');
      failAt(step);
      await expect(ada.save(), step).rejects.toMatchObject({ code: 'storage' });
      expect(hasFailed(), step).toBe(true);
      expect(await depot.handle.readRef('refs/saves/alpha/ada')).toBe(before);
      const saved = await ada.save();
      expect(saved?.unchanged, step).toBe(false);
      expect(plainGit(depot.dir, 'show', `${saved?.commit}:src/a.ts`)).toBe(step);
      expect(saved?.changes.map(({ path }) => path)).toEqual(['README.md', `new~${i}`, 'src/a.ts']);
    }
    expect(await depot.check()).toEqual([]);

    // A command that did its work and was killed before it could say so.
    write(ada.folder, { 'src/a.ts': 'done\n', 'not~plain': 'x\n' });
    await depot.tidy();
    failAt('update-ref after');
    await expect(ada.save()).rejects.toMatchObject({ code: 'storage' });
    const saved = await ada.save();
    expect(plainGit(depot.dir, 'show', `${saved?.commit}:src/a.ts`)).toBe('done');
    expect(await depot.handle.readRef('refs/saves/alpha/ada')).toBe(saved?.commit);
  });

  test('killed with the lock of the index fails one call, and the next one works', async () => {
    const root = newProject();
    const { program, failAt, hasFailed } = failingGit(root);
    const { checkout, workspaces, depot } = await openStage({ root, program });
    const ada = await workspaces.open(ADA, { base: checkout.head });
    for (const step of ['--add', 'write-tree']) {
      write(ada.folder, { 'src/a.ts': `${step}\n`, 'not~plain': `${step}\n` });
      failAt(`${step} locked`);
      await expect(ada.save(), step).rejects.toMatchObject({ code: 'storage' });
      expect(hasFailed(), step).toBe(true);
      const saved = await ada.save();
      expect(plainGit(depot.dir, 'show', `${saved?.commit}:src/a.ts`)).toBe(step);
    }
    failAt('read-tree locked');
    await expect(ada.refresh(checkout.head)).rejects.toMatchObject({ code: 'storage' });
    await ada.refresh(checkout.head);
    expect(contents(ada.folder)).toEqual(contents(join(root, 'project')));
  });

  test('fails a refresh, which is finished by the next call or the next daemon', async () => {
    const root = newProject();
    const { program, failAt, hasFailed } = failingGit(root);
    const project = join(root, 'project');
    const base = plainGit(project, 'rev-parse', 'HEAD');
    write(project, { 'src/a.ts': 'tip\n', 'tip.ts': 'tip\n' });
    const tip = commitAll(project);
    let { workspaces } = await openStage({ root, program });
    for (const [i, step] of ['diff-tree', 'read-tree', '--stage', 'read-tree', '--stage'].entries()) {
      const ada = await workspaces.open(ADA, { base });
      await ada.refresh(base);
      write(ada.folder, { 'src/b.ts': `work ${i}\n` });
      const saved = await ada.save();
      failAt(step);
      await expect(ada.refresh(tip), step).rejects.toMatchObject({ code: 'storage' });
      expect(hasFailed(), step).toBe(true);
      if (i > 2) ({ workspaces } = await openStage({ root, program }));
      const again = i > 2 ? await workspaces.open(ADA, { base }) : ada;
      await again.refresh(tip);
      expect(again.base).toBe(tip);
      expect(contents(again.folder)).toEqual(contents(project));
      expect((await again.saves()).map(({ commit }) => commit)).toContain(saved?.commit);
      expect(readFileSync(join(again.folder, '.git/HEAD'), 'utf8').trim()).toBe(tip);
    }
  });

  test('killed in the middle of a refresh leaves nothing that is in the way of the next one', async () => {
    const root = newProject();
    const { program, failAt, hasFailed } = failingGit(root);
    const project = join(root, 'project');
    const base = plainGit(project, 'rev-parse', 'HEAD');
    write(project, { 'build.log': 'tip\n', 'out.log/deep/x.log': 'x\n', 'tip.ts': 'tip\n', 'gen/a.js': 'a\n' });
    write(project, { '.gitignore': 'gen/\n*.log\n.env\n' });
    plainGit(project, 'add', '-f', '.');
    const tip = commitAll(project);
    for (const isRestarted of [false, true]) {
      const { workspaces, places } = await openStage({ root, program });
      const ada = await workspaces.open(ADA, { base });
      await ada.refresh(base);
      write(ada.folder, { '.env': 'mine\n', 'src/b.ts': 'work\n' });
      const saved = await ada.save();
      failAt('read-tree half');
      await expect(ada.refresh(tip)).rejects.toMatchObject({ code: 'storage' });
      expect(hasFailed()).toBe(true);
      // One file was only written to its half; into another somebody wrote since.
      write(ada.folder, { 'build.log': 'ti', 'out.log/deep/x.log': 'mine\n' });
      const again = isRestarted ? await (await openStage({ root, program })).workspaces.open(ADA, { base }) : ada;
      await again.save();
      expect(again.base).toBe(tip);
      expect(contents(again.folder)).toEqual({ ...contents(project), '.env': 'mine\n' });
      expect((await again.saves()).map(({ commit }) => commit)).toContain(saved?.commit);
      const [trash = ''] = (await listTrash(places)).slice(-1).map(({ path }) => path);
      expect(contents(trash)).toMatchObject({ 'out.log/deep/x.log': 'mine\n' });
    }
  });

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
