import { chmodSync, rmSync } from 'node:fs';
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

/** Everything that a repository says about its branches. */
const branchesOf = (repository: string): string =>
  plainGit(repository, 'for-each-ref') + plainGit(repository, 'status');

test('a merge that is refused changes no branch: for a conflict, by a hook, and with an older branch of the team', async () => {
  const root = newProject();
  const repository = join(root, 'project');
  const depot = join(root, 'depot');
  const base = plainGit(repository, 'rev-parse', 'HEAD');
  plainGit(root, 'clone', '-q', repository, depot);
  plainGit(depot, 'checkout', '-qb', 'troupe/demo');
  write(depot, { 'src/b.ts': 'theirs\n' });
  const tip = commitAll(depot);
  const git = gitIn(repository, plainEnvironment(root));
  const merge = (to = tip) => mergeIn(git, { repository, work: { branch: 'troupe/demo', base, tip: to, depot } });

  write(repository, { 'src/b.ts': 'mine\n' });
  commitAll(repository);
  let before = branchesOf(repository);
  const refusal = await merge();
  expect(refusal).toEqual({
    refused:
      'troupe/demo does not merge into main without a conflict in src/b.ts. Nothing was changed. ' +
      `To resolve it yourself: git pull --no-rebase ${depot} troupe/demo`,
  });
  expect(branchesOf(repository)).toBe(before);
  // The command does what it promises.
  expect(() => plainGit(repository, 'pull', '-q', '--no-rebase', depot, 'troupe/demo')).toThrow();
  expect(plainGit(repository, 'rev-parse', 'MERGE_HEAD')).toBe(tip);
  plainGit(repository, 'merge', '--abort');

  plainGit(repository, 'reset', '-q', '--hard', base);
  write(repository, { 'own.txt': 'mine\n' });
  commitAll(repository);
  const hook = join(repository, '.git/hooks/pre-merge-commit');
  write(repository, { '.git/hooks/pre-merge-commit': '#!/bin/sh\nexit 1\n' });
  chmodSync(hook, 0o755);
  before = branchesOf(repository);
  expect(await merge()).toEqual({ refused: expect.stringContaining('your files are as they were') });
  expect(branchesOf(repository)).toBe(before);

  rmSync(hook);
  expect(await merge()).toEqual({ into: 'main', merged: true });
  expect(plainGit(repository, 'rev-parse', 'troupe/demo')).toBe(tip);
  write(depot, { 'src/b.ts': 'theirs again\n' });
  const later = commitAll(depot);
  write(repository, { 'src/b.ts': 'mine again\n' });
  commitAll(repository);
  before = branchesOf(repository);
  expect(await merge(later)).toEqual({ refused: expect.stringContaining('a conflict in src/b.ts') });
  expect(branchesOf(repository)).toBe(before);
});

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
  const refused = expect.stringMatching(
    /your files are as they were.*mine\.txt.*took along.*Commit yours.*git stash -u;/s,
  );
  expect(await mergeIn(git, { repository, work })).toEqual({ refused });
  commitAll(repository);
  expect(await mergeIn(git, { repository, work })).toEqual({ into: 'main', merged: true });
});
