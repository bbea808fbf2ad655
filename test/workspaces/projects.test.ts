import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openProjects } from '../../src/workspaces.ts';
import { emptyTrash } from '../../src/workspaces/places.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { commitAll, makeRepository, newProject, plainGit, write } from './project.ts';

const ADA = { team: 'alpha', member: 'ada' };
const BOB = { team: 'alpha', member: 'bob' };

function options(root: string) {
  const environment = { PATH: process.env['PATH'], HOME: root };
  return { root: join(root, 'state'), environment, marks: {}, endLeftovers: async () => {} };
}

test('a project has one depot and one workspace for a name, however often it is opened', async () => {
  const root = newProject();
  const project = join(root, 'project');
  const projects = await openProjects(options(root));
  const first = await projects.open(project);
  write(project, { later: 'later\n' });
  const tip = commitAll(project);
  const second = await projects.open(join(project, 'src'), { limits: { fileSize: 10, workSize: 10 } });
  if (first.kind !== 'clone' || second.kind !== 'clone') throw new Error('These are no clones');
  expect(second.depot).toBe(first.depot);
  expect(second.checkout.head).toBe(tip);
  const base = first.checkout.head;
  const [ada, same] = await Promise.all([first.workspaces.open(ADA, { base }), second.workspaces.open(ADA, { base })]);
  expect(same).toBe(ada);
  await ada.refresh(tip);
  expect(same.base).toBe(tip);
  await same.close({ tip });
  expect(await second.workspaces.open(ADA, { base })).not.toBe(ada);
});

test('without a repository the folder is shared, and it is said why', async () => {
  const root = temporaryFolder();
  const projects = await openProjects(options(root));
  const project = await projects.open(root);
  expect(project).toMatchObject({ kind: 'shared', why: { reason: 'no-repository' } });
  expect((await project.workspaces.open(ADA, { base: '' })).folder).toBe(root);
  plainGit(root, 'init', '-q');
  expect(await projects.open(root)).toMatchObject({ kind: 'shared', why: { reason: 'no-commit' } });
});

test('a checkout that was moved keeps its depot, and another one in its old place gets its own', async () => {
  const root = newProject();
  const [project, moved] = [join(root, 'project'), join(root, 'moved')];
  const before = await (await openProjects(options(root))).open(project);
  if (before.kind !== 'clone') throw new Error('This is no clone');
  const base = before.checkout.head;
  const sought = { team: ADA.team, repository: project, base };
  const ada = await before.workspaces.open(ADA, { base });
  write(ada.folder, { 'src/a.ts': 'mine\n' });
  const saved = await ada.save();

  renameSync(project, moved);
  const projects = await openProjects(options(root));
  const without = await projects.find(sought);
  if (without.kind !== 'clone') throw new Error('The depot is not found');
  expect([without.depot.id, without.checkout.isAbsent]).toEqual([before.depot.id, true]);
  expect((await without.workspaces.open(ADA, { base })).opened.how).toBe('found');
  expect(await projects.recognise(sought, root)).toBeUndefined();
  expect(await projects.recognise(sought, join(moved, 'src'))).toBe(moved);
  const after = await projects.open(moved);
  if (after.kind !== 'clone') throw new Error('The moved checkout is not found');
  expect(after.depot.id).toBe(before.depot.id);
  expect(await after.depot.has([saved!.commit])).toEqual([saved!.commit]);
  expect(await projects.find(sought)).toMatchObject({ checkout: { folder: moved }, depot: { id: before.depot.id } });

  makeRepository(project, { other: 'another project\n' });
  const other = await projects.open(project);
  if (other.kind !== 'clone') throw new Error('The other project is not found');
  expect(other.depot.id).not.toBe(before.depot.id);
  expect((await projects.open(project)) as typeof other).toMatchObject({ depot: { id: other.depot.id } });
  expect(await projects.find(sought)).toMatchObject({ checkout: { folder: moved }, depot: { id: before.depot.id } });
});

test('of two checkouts of one repository, a team stays with its own', async () => {
  const root = newProject();
  const [project, copy] = [join(root, 'project'), join(root, 'copy')];
  plainGit(root, 'clone', '-q', project, copy);
  const projects = await openProjects(options(root));
  const own = await projects.open(project);
  if (own.kind !== 'clone') throw new Error('This is no clone');
  const sought = { team: ADA.team, repository: project, base: own.checkout.head };
  expect(await projects.recognise(sought, copy)).toBeUndefined();
  expect(await projects.open(copy)).not.toMatchObject({ depot: { id: own.depot.id } });
});

test('objects that nothing leads to go when no folder borrows from the depot any more, also none in the trash', async () => {
  const root = newProject();
  const projects = await openProjects(options(root));
  const project = await projects.open(join(root, 'project'));
  if (project.kind !== 'clone') throw new Error('This is no clone');
  const { depot, workspaces, checkout } = project;
  const base = checkout.head;
  const [ada, bob] = [await workspaces.open(ADA, { base }), await workspaces.open(BOB, { base })];
  write(ada.folder, { 'ada.txt': 'landed in another form\n' });
  write(bob.folder, { 'bob.txt': 'never landed\n' });
  const [hers, his] = [await ada.save(), await bob.save()];
  const { trash = '' } = await ada.close({ tip: base, landed: [hers!.commit] });
  const later = Date.now() + 60_000;
  const left = (): Promise<readonly string[]> => depot.has([hers!.commit, his!.commit]);
  await projects.tidy(later);
  expect(await left()).toHaveLength(2);
  await bob.close({ tip: base });
  await projects.tidy(later);
  expect(await left()).toHaveLength(2);

  expect(existsSync(trash)).toBe(true);
  await emptyTrash(projects.places, later);
  // What was written just now may still get a ref.
  await projects.tidy(Date.now() - 60_000);
  expect(await left()).toHaveLength(2);
  await projects.tidy(later);
  expect(await left()).toEqual([his!.commit]);
  expect(await depot.check()).toEqual([]);
  expect(plainGit(depot.dir, 'config', 'extensions.preciousObjects')).toBe('true');
  expect((await (await workspaces.open(ADA, { base })).save())?.commit).toBe(base);
});
