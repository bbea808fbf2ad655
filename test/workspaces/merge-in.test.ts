import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gitIn } from '../../src/cli/reach/git.ts';
import { mergeIn } from '../../src/workspaces/merge-in.ts';
import { commitAll, newProject, plainEnvironment, plainGit, write } from './project.ts';

test.for(['troupe', 'troupe/demo/old'])(
  'a branch %s of the user leaves no room for troupe/demo: nothing is merged, and it is said what to do',
  async (taken) => {
    const root = newProject();
    const repository = join(root, 'project');
    const depot = join(root, 'depot');
    const base = plainGit(repository, 'rev-parse', 'HEAD');
    plainGit(root, 'clone', '-q', repository, depot);
    plainGit(depot, 'checkout', '-qb', 'troupe/demo');
    write(depot, { 'new.txt': 'new\n' });
    const tip = commitAll(depot);
    plainGit(repository, 'branch', taken);
    const git = gitIn(repository, plainEnvironment(root));
    const work = { branch: 'troupe/demo', base, tip, depot };
    const rename = `git branch -m ${taken} old-${taken.replaceAll('/', '-')}`;
    const refused = expect.stringMatching(new RegExp(`beside your branch ${taken}\\. .*${rename}$`));
    expect(await mergeIn(git, { repository, work })).toEqual({ refused });
    expect(plainGit(repository, 'rev-parse', 'HEAD')).toBe(base);
    plainGit(repository, ...rename.split(' ').slice(1));
    expect(await mergeIn(git, { repository, work })).toEqual({ into: 'main', merged: true });
  },
);

test('uncommitted files that the team took along keep git from merging: it is said, and after a commit it merges', async () => {
  const root = newProject();
  const repository = join(root, 'project');
  const depot = join(root, 'depot');
  plainGit(root, 'clone', '-q', repository, depot);
  plainGit(depot, 'checkout', '-qb', 'troupe/demo');
  write(repository, { 'mine.txt': 'mine\n' });
  write(depot, { 'mine.txt': 'mine\n' });
  const base = commitAll(depot);
  write(depot, { 'new.txt': 'new\n' });
  const tip = commitAll(depot);
  const git = gitIn(repository, plainEnvironment(root));
  const work = { branch: 'troupe/demo', base, tip, depot };
  const refused = expect.stringMatching(/your files are as they were.*mine\.txt.*took along.*Commit yours/s);
  expect(await mergeIn(git, { repository, work })).toEqual({ refused });
  commitAll(repository);
  expect(await mergeIn(git, { repository, work })).toEqual({ into: 'main', merged: true });
});
