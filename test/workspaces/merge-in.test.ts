import { chmodSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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

/** A repository, and a team's branch that adds a file and changes one. */
function withBranch() {
  const root = newProject();
  const repository = join(root, 'project');
  const depot = join(root, 'depot');
  const base = plainGit(repository, 'rev-parse', 'HEAD');
  plainGit(root, 'clone', '-q', repository, depot);
  plainGit(depot, 'checkout', '-qb', 'troupe/demo');
  write(depot, { 'src/b.ts': 'theirs\n', 'new/file': 'new\n' });
  const tip = commitAll(depot);
  const work = { branch: 'troupe/demo', base, tip, depot };
  const merge = (variables: Record<string, string> = {}) =>
    mergeIn(gitIn(repository, { ...plainEnvironment(root), ...variables }), { repository, work });
  return { root, repository, tip, merge };
}

/** Puts a hook into a repository; returns its path. */
function putHook(repository: string, name: string, text: string): string {
  const path = join(repository, '.git/hooks', name);
  write(repository, { [`.git/hooks/${name}`]: `#!/bin/sh\n${text}\n` });
  chmodSync(path, 0o755);
  return path;
}

describe.for(['fast-forward', 'merge'])('a %s', (kind) => {
  const prepare = () => {
    const stage = withBranch();
    if (kind === 'merge') {
      write(stage.repository, { 'own.txt': 'mine\n' });
      commitAll(stage.repository);
    } else {
      write(stage.repository, { 'own.txt': 'mine\n' });
      plainGit(stage.repository, 'add', 'own.txt');
    }
    write(stage.repository, { 'src/a.ts': 'not committed\n' });
    return stage;
  };

  test('is taken back if a hook refuses to move the branch; what was staged and changed stays', async () => {
    const { repository, merge } = prepare();
    const before = branchesOf(repository);
    const hook = putHook(repository, 'reference-transaction', 'if grep -q refs/heads/main; then exit 1; fi');
    expect(await merge()).toEqual({ refused: expect.stringContaining('your files are as they were') });
    expect(branchesOf(repository)).toBe(before);
    rmSync(hook);
    expect(await merge()).toEqual({ into: 'main', merged: true });
  });

  test('that was interrupted in a hook after the commit is done', async () => {
    const { repository, tip, merge } = prepare();
    putHook(repository, 'post-merge', 'kill -9 $PPID; sleep 0.1');
    expect(await merge()).toEqual({ into: 'main', merged: true });
    expect(plainGit(repository, 'rev-parse', 'troupe/demo')).toBe(tip);
    expect(plainGit(repository, 'status', '--porcelain')).toContain('M src/a.ts');
  });
});

test('a merge that is interrupted in a hook before the commit is taken back', async () => {
  const { repository, merge } = withBranch();
  write(repository, { 'own.txt': 'mine\n' });
  commitAll(repository);
  write(repository, { 'src/a.ts': 'not committed\n' });
  const before = branchesOf(repository);
  const hook = putHook(repository, 'pre-merge-commit', 'kill -9 $PPID; sleep 0.1');
  expect(await merge()).toEqual({
    refused: expect.stringContaining('your files are as they were. It was ended by SIGKILL.'),
    endedBy: 'SIGKILL',
  });
  expect(branchesOf(repository)).toBe(before);

  // What the hook wrote into a file of the merge is not thrown away.
  putHook(repository, 'pre-merge-commit', 'echo by the hook > new/file; kill -9 $PPID; sleep 0.1');
  expect(await merge()).toMatchObject({ refused: expect.stringContaining('could not take back what it had begun') });
  expect(readFileSync(join(repository, 'new/file'), 'utf8')).toBe('by the hook\n');
  plainGit(repository, 'reset', '-q', '--hard');
  rmSync(hook);
  expect(await merge()).toEqual({ into: 'main', merged: true });
});

test('ignored files of the user are not replaced', async () => {
  const { repository, merge } = withBranch();
  write(repository, { '.git/info/exclude': 'new/\n', 'new/file': 'mine\n', 'new/other': 'mine, too\n' });
  for (const kind of ['fast-forward', 'merge']) {
    if (kind === 'merge') {
      write(repository, { 'own.txt': 'mine\n' });
      commitAll(repository);
    }
    const before = branchesOf(repository);
    expect(await merge(), kind).toEqual({ refused: expect.stringMatching(/would replace yours: new\/file\. Nothing/) });
    expect(branchesOf(repository)).toBe(before);
    expect(readFileSync(join(repository, 'new/file'), 'utf8')).toBe('mine\n');
  }
  rmSync(join(repository, 'new/file'));
  expect(await merge()).toEqual({ into: 'main', merged: true });
});

test('an ignored file or link of the user is not replaced by a folder', async () => {
  const { repository, merge } = withBranch();
  write(repository, { '.git/info/exclude': 'new\n', new: 'mine\n' });
  const refused = { refused: expect.stringMatching(/would replace yours: new\. Nothing/) };
  expect(await merge()).toEqual(refused);
  expect(readFileSync(join(repository, 'new'), 'utf8')).toBe('mine\n');
  rmSync(join(repository, 'new'));
  symlinkSync('nowhere', join(repository, 'new'));
  expect(await merge()).toEqual(refused);
  expect(readlinkSync(join(repository, 'new'))).toBe('nowhere');
  rmSync(join(repository, 'new'));
  expect(await merge()).toEqual({ into: 'main', merged: true });
});

test.for(['rebase', 'cherry-pick', 'revert', 'am'])('nothing is merged while git %s is in progress', async (what) => {
  const { root, repository, merge } = withBranch();
  write(repository, { 'own.txt': 'one\n' });
  const one = commitAll(repository);
  write(repository, { 'own.txt': 'two\n' });
  const two = commitAll(repository);
  if (what === 'am') plainGit(repository, 'format-patch', '-q', '-1', '-o', root);
  plainGit(repository, 'checkout', '-q', '--detach', `${one}~`);
  write(repository, { 'own.txt': 'other\n' });
  commitAll(repository);
  const words = { rebase: [two], 'cherry-pick': [two], revert: [two], am: [join(root, '0001-more.patch')] }[what];
  expect(() => plainGit(repository, what, ...words!)).toThrow();
  const before = branchesOf(repository);
  const refused = expect.stringMatching(new RegExp(`in progress .*git ${what} --continue.*git ${what} --abort;`));
  expect(await merge()).toEqual({ refused });
  expect(branchesOf(repository)).toBe(before);
  plainGit(repository, what, '--abort');
  expect(await merge()).toEqual({ merged: true });
});

test('a branch without a commit is no conflict', async () => {
  const { repository, merge } = withBranch();
  plainGit(repository, 'checkout', '-q', '--orphan', 'empty');
  expect(await merge()).toEqual({ refused: expect.stringContaining('git refused, and nothing was merged.') });
});

test('a tag with the name of the branch is not merged in its place', async () => {
  const { repository, tip, merge } = withBranch();
  plainGit(repository, 'tag', 'troupe/demo');
  write(repository, { 'own.txt': 'mine\n' });
  commitAll(repository);
  expect(await merge()).toEqual({ into: 'main', merged: true });
  expect(plainGit(repository, 'rev-parse', 'HEAD^2')).toBe(tip);
});

test('a merge that is called by git, as in a hook, works in the checkout and not where variables say', async () => {
  const { root, repository, tip, merge } = withBranch();
  const other = join(root, 'other');
  plainGit(root, 'clone', '-q', repository, other);
  const before = branchesOf(other);
  const variables = {
    GIT_DIR: join(other, '.git'),
    GIT_WORK_TREE: other,
    GIT_INDEX_FILE: join(other, '.git/index'),
    GIT_OBJECT_DIRECTORY: join(other, '.git/objects'),
    GIT_PREFIX: 'src/',
  };
  expect(await merge(variables)).toEqual({ into: 'main', merged: true });
  expect(plainGit(repository, 'rev-parse', 'HEAD')).toBe(tip);
  expect(branchesOf(other)).toBe(before);
  expect(plainGit(repository, 'status', '--porcelain')).toBe('');
});
