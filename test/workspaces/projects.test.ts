import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openProjects } from '../../src/workspaces.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { commitAll, newProject, plainGit, write } from './project.ts';

const ADA = { team: 'alpha', member: 'ada' };

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
  expect(await projects.open(root, { kind: 'shared' })).toMatchObject({ kind: 'shared', why: undefined });
});
