import { join } from 'node:path';
import { sharedWorkspaces } from '../../src/workspaces/shared.ts';
import { describeWorkspaces } from '../contracts/workspace.ts';
import { commitAll, newProject, openStage, plainGit, write } from './project.ts';

/** A project with a second commit that is not checked out. */
function twoCommits(): { root: string; base: string; tip: string } {
  const root = newProject();
  const project = join(root, 'project');
  const base = plainGit(project, 'rev-parse', 'HEAD');
  write(project, { 'later.txt': 'later\n' });
  const tip = commitAll(project);
  plainGit(project, 'branch', 'later');
  plainGit(project, 'reset', '-q', '--hard', base);
  return { root, base, tip };
}

describeWorkspaces('clone', async () => {
  const { root, base, tip } = twoCommits();
  return { ...(await openStage({ root })), base, tip };
});

describeWorkspaces('shared', async () => {
  const { root, base, tip } = twoCommits();
  return { workspaces: sharedWorkspaces({ folder: join(root, 'project') }), base, tip };
});
