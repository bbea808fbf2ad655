import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { openCleanUp } from '../../src/runtime/work/clean-up.ts';
import { openProjects } from '../../src/workspaces.ts';
import { KEPT_MS } from '../../src/workspaces/leftovers.ts';
import { shareStage } from '../server/stage.ts';
import { makeRepository, plainGit, write } from '../workspaces/project.ts';

const shared = shareStage();

test('notices that a person merged a branch with their own git, and removes kept work 30 days later', async () => {
  const { act, home, ledger, teamId } = shared();
  const repository = join(home.directory, 'project');
  const base = makeRepository(repository);
  const work = { workspaces: 'own', repository, prefix: '', base, branch: 'troupe/demo' } as const;
  await ledger.execute(teamId, { type: 'team.update', by: '@user', work }, () => undefined);
  await act('member.add', { teamId, name: 'ada', agent: { exec: ['true'] } });
  const { id: taskId } = await act('task.create', { teamId, title: 'Change it' });
  const { epoch = 0 } = (await act('task.claim', { teamId, taskId }, 'ada')) ?? {};
  const opened = await act('work.open', { teamId, memberId: 'ada' });
  await act('work.begin', { teamId, memberId: 'ada', taskId, epoch }, 'ada');
  write(opened?.folder ?? '', { 'new.txt': 'landed\n' });
  await act('task.complete', { teamId, taskId, epoch }, 'ada');
  const { depot = '', tip = '' } = await act('work.show', { teamId });
  write(opened?.folder ?? '', { 'later.txt': 'not handed in\n' });
  await act('work.save', { teamId, memberId: 'ada' });
  const [save] = await act('work.saves', { teamId });
  // As a workspace that is closed leaves it.
  plainGit(depot, 'update-ref', `refs/kept/${teamId}/ada/${save?.commit}`, save?.commit ?? '');

  const projects = await openProjects({
    root: home.directory,
    environment: { PATH: process.env['PATH'], HOME: home.directory },
    marks: {},
    endLeftovers: () => Promise.resolve(),
  });
  const cleanUp = openCleanUp({ ledger, projects }, (error) => {
    throw error;
  });
  const keeps = async (): Promise<boolean> => (await cleanUp.list()).some(({ commit }) => commit === save?.commit);
  const now = Date.now() + 2_000;
  await cleanUp.sweep(now);
  await cleanUp.sweep(now + 2 * KEPT_MS);
  expect(await keeps()).toBe(true);

  plainGit(repository, 'fetch', '-q', depot, 'refs/heads/troupe/demo');
  plainGit(repository, 'merge', '-q', '--ff-only', tip);
  const seen = now + 3 * KEPT_MS;
  await cleanUp.sweep(seen);
  await cleanUp.sweep(seen + KEPT_MS - 1_000);
  expect(await keeps()).toBe(true);
  await cleanUp.sweep(seen + KEPT_MS + 1_000);
  expect(await keeps()).toBe(false);
});

test('removes the branch of a deleted team 30 days after its merge, also if no team of that repository is left', async () => {
  const { home } = shared();
  const root = join(home.directory, 'last-team');
  const repository = join(root, 'project');
  const base = makeRepository(repository);
  const openAgain = async () => {
    const projects = await openProjects({
      root: join(root, 'state'),
      environment: { PATH: process.env['PATH'], HOME: home.directory },
      marks: {},
      endLeftovers: () => Promise.resolve(),
    });
    const ledger = new Ledger(memoryJournal(), { exclusive: true });
    const cleanUp = openCleanUp({ ledger, projects }, () => {});
    return { projects, cleanUp, goesAt: async () => (await cleanUp.list()).map(({ goesAt }) => goesAt !== undefined) };
  };
  const project = await (await openAgain()).projects.open(repository);
  if (project.kind !== 'clone') throw new Error(project.why.why);
  const { depot } = project;
  const author = { name: 'Ada', email: 'ada@example.com' };
  const tree = await depot.handle.treeOf(base);
  const branch = await depot.commit({ tree, parents: [base], message: 'landed', author, at: 0 });
  await depot.handle.changeRefs([{ ref: `refs/deleted/gone/${Date.now()}`, to: branch }]);

  // After a restart, no team makes the daemon open that project.
  const { cleanUp, goesAt } = await openAgain();
  const now = Date.now() + 2_000;
  await cleanUp.sweep(now);
  await cleanUp.sweep(now + 2 * KEPT_MS);
  expect(await goesAt()).toEqual([false]);
  plainGit(repository, 'fetch', '-q', depot.dir, branch);
  plainGit(repository, 'merge', '-q', '--ff-only', branch);
  // Where no ref can be written, everything is still listed, and nothing counts as merged.
  const inTheWay = join(depot.dir, 'refs', 'merged');
  writeFileSync(inTheWay, '');
  expect(await goesAt()).toEqual([false]);
  rmSync(inTheWay);
  await cleanUp.sweep(now);
  expect(await goesAt()).toEqual([true]);

  // A repository without the work, or one that is away, begins the 30 days again.
  plainGit(repository, 'reset', '-q', '--hard', base);
  await cleanUp.sweep(now + 2 * KEPT_MS);
  expect(await goesAt()).toEqual([false]);
  plainGit(repository, 'worktree', 'add', '-q', join(root, 'linked'), branch);
  await (await openAgain()).projects.open(join(root, 'linked'));
  expect(await goesAt()).toEqual([true]);
  renameSync(repository, join(root, 'away'));
  await cleanUp.sweep(now + 2 * KEPT_MS);
  expect(await goesAt()).toEqual([false]);
  renameSync(join(root, 'away'), repository);

  // A linked worktree that is gone leaves the repository.
  plainGit(repository, 'merge', '-q', '--ff-only', branch);
  plainGit(repository, 'worktree', 'remove', join(root, 'linked'));
  await cleanUp.sweep(now);
  await cleanUp.sweep(now + KEPT_MS - 1_000);
  expect(await goesAt()).toEqual([true]);
  await cleanUp.sweep(now + KEPT_MS + 1_000);
  expect(await goesAt()).toEqual([]);
});

test('a pass that is under way when everything closes does nothing more, and says nothing', async () => {
  const { home } = shared();
  const root = join(home.directory, 'closing');
  for (const team of ['one', 'two']) mkdirSync(join(root, 'indexes', team, 'ada'), { recursive: true });
  const projects = await openProjects({
    root,
    environment: { PATH: process.env['PATH'], HOME: home.directory },
    marks: {},
    endLeftovers: () => Promise.resolve(),
  });
  expect(await projects.teams()).toEqual(['one', 'two']);
  const ledger = new Ledger(memoryJournal(), { exclusive: true });
  const told: unknown[] = [];
  const cleanUp = openCleanUp({ ledger, projects }, (error) => told.push(error));
  const pass = cleanUp.sweep();
  cleanUp.close();
  await ledger.close();
  await pass;
  expect([told, await projects.teams()]).toEqual([[], ['one', 'two']]);
});
