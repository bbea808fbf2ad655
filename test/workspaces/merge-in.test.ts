import { chmodSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { gitIn } from '../../src/cli/reach/git.ts';
import { mergeIn } from '../../src/workspaces/merge-in.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { commitAll, contents, copyFolder, newProject, plainEnvironment, plainGit, write } from './project.ts';

/** A folder that others are copied from: a repository, and a depot with a team's branch that changes these files. */
function makeTemplate(files: Record<string, string>) {
  const root = newProject({ lasting: true });
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const [repository, depot] = [join(root, 'project'), join(root, 'depot')];
  plainGit(root, 'clone', '-q', repository, depot);
  for (const setting of ['core.checkStat=minimal', 'core.trustctime=false']) {
    plainGit(depot, 'config', ...setting.split('='));
  }
  plainGit(depot, 'checkout', '-qb', 'troupe/demo');
  write(depot, files);
  const [base, tip] = [plainGit(repository, 'rev-parse', 'HEAD'), commitAll(depot)];
  return { base, tip, copy: () => copyTo(root) };
}

function copyTo(template: string): { root: string; repository: string; depot: string } {
  const root = temporaryFolder();
  copyFolder(template, root);
  return { root, repository: join(root, 'project'), depot: join(root, 'depot') };
}

const BRANCH = makeTemplate({ 'src/b.ts': 'theirs\n', 'new/file': 'new\n' });

test.for([
  ['troupe', 'troupe/demo/x'],
  ['troupe/demo', 'troupe/demo/x'],
  ['troupe/demo/old', 'troupe/demo'],
] as const)(
  'a branch %s of the user leaves no room for %s: nothing is merged, and it is said what to do',
  async ([taken, branch]) => {
    const { base, tip } = BRANCH;
    const { root, repository, depot } = BRANCH.copy();
    plainGit(depot, 'branch', '-qm', branch);
    plainGit(repository, 'branch', taken);
    const git = gitIn(repository, plainEnvironment(root));
    const work = { branch, base, tip, depot };
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
  const { base, tip } = BRANCH;
  const { root, repository, depot } = BRANCH.copy();
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
  expect(plainGit(repository, 'log', '-1', '--format=%s')).toBe("Merge branch 'troupe/demo'");
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
  const { root, repository, depot } = BRANCH.copy();
  plainGit(depot, 'reset', '-q', '--hard', BRANCH.base);
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
  const { base, tip } = BRANCH;
  const { root, repository, depot } = BRANCH.copy();
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

  // That it looks changed is no change.
  putHook(repository, 'pre-merge-commit', 'touch -d 2001-01-01 new/file; kill -9 $PPID; sleep 0.1');
  expect(await merge()).toMatchObject({ refused: expect.stringContaining('your files are as they were.') });
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
  expect(plainGit(repository, 'log', '-1', '--format=%P')).toMatch(new RegExp(` ${tip}$`));
  expect(plainGit(repository, 'log', '-1', '--format=%s')).toContain('refs/heads/troupe/demo');
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

/** A repository with ignored files, a depot beside it, and what merges the depot's branch into it. */
function withDepot() {
  const { root, repository, depot } = BRANCH.copy();
  const { base } = BRANCH;
  plainGit(depot, 'reset', '-q', '--hard', base);
  write(repository, { '.env': 'KEY=1\n', 'x.log': 'log\n' });
  const land = (files: Record<string, string>): string => {
    write(depot, files);
    plainGit(depot, 'add', '-f', '.');
    return commitAll(depot);
  };
  const merge = (tip: string, from = base, at = depot) =>
    mergeIn(gitIn(repository, plainEnvironment(root)), {
      repository,
      work: { branch: 'troupe/demo', base: from, tip, depot: at },
    });
  return { root, repository, depot, base, land, merge };
}

test('what is merged already is not merged again, and nothing is merged if nothing landed', async () => {
  const { root, repository, base, land, merge } = withDepot();
  // The depot is not even looked at.
  expect(await merge(base, base, join(root, 'nothing'))).toEqual({ into: 'main', merged: false });
  const tip = land({ 'new.txt': 'new\n' });
  expect(await merge(tip, base, join(root, 'nothing'))).toEqual({
    refused: expect.stringMatching(/^git refused, and nothing was merged\. It said:\n.*nothing/s),
  });
  expect(await merge(tip)).toEqual({ into: 'main', merged: true });
  expect(await merge(tip)).toEqual({ into: 'main', merged: false });
  // Also if its branch is gone.
  plainGit(repository, 'checkout', '-q', '--detach');
  plainGit(repository, 'branch', '-D', 'troupe/demo');
  expect(await merge(tip)).toEqual({ merged: false });
  expect(plainGit(repository, 'rev-parse', 'HEAD')).toBe(tip);
  // A later one is merged into what is checked out, by its own name.
  const later = land({ 'later.txt': 'later\n' });
  // Not while another worktree has it.
  const linked = join(root, 'linked');
  plainGit(repository, 'branch', 'troupe/demo', tip);
  plainGit(repository, 'worktree', 'add', '-q', linked, 'troupe/demo');
  expect(await merge(later)).toEqual({
    refused: expect.stringMatching(/^git refused, and nothing was merged\. It said:\n.*linked/s),
  });
  expect(plainGit(repository, 'rev-parse', 'HEAD', 'troupe/demo').split('\n')).toEqual([tip, tip]);
  plainGit(repository, 'worktree', 'remove', linked);
  expect(await merge(later)).toEqual({ merged: true });
  expect(plainGit(repository, 'rev-parse', 'HEAD', 'troupe/demo', 'main').split('\n')).toEqual([later, later, tip]);
  write(repository, { '.git/MERGE_HEAD': `${later}\n` });
  expect(await merge(later)).toEqual({
    refused:
      'A merge is in progress in your checkout. Finish it with git commit, or take it back with git merge --abort; then merge again',
  });
});

test("the team's own branch may be the one that is checked out", async () => {
  const { repository, land, merge } = withDepot();
  const first = land({ 'new.txt': 'new\n' });
  plainGit(repository, 'checkout', '-qb', 'troupe/demo');
  expect(await merge(first)).toEqual({ into: 'troupe/demo', merged: true });
  expect(plainGit(repository, 'rev-parse', 'HEAD')).toBe(first);
  write(repository, { 'own.txt': 'own\n' });
  const own = commitAll(repository);
  const second = land({ 'second.txt': 'second\n' });
  const hook = putHook(repository, 'pre-merge-commit', 'echo no; exit 1');
  expect(await merge(second)).toEqual({
    refused: expect.stringMatching(/^git did not merge troupe\/demo, and your files are as they were\. It said:\nno\n/),
  });
  expect(plainGit(repository, 'rev-parse', 'HEAD')).toBe(own);
  rmSync(hook);
  expect(await merge(second)).toEqual({ into: 'troupe/demo', merged: true });
  expect(plainGit(repository, 'rev-parse', 'HEAD^1', 'HEAD^2').split('\n')).toEqual([own, second]);
});

test('a branch of that name with commits of the user is never overwritten; an older one of the team is, and comes back', async () => {
  const { repository, base, land, merge } = withDepot();
  const first = land({ 'src/a.ts': 'theirs\n', 'src/b.ts': 'theirs\n' });
  plainGit(repository, 'checkout', '-qb', 'troupe/demo');
  write(repository, { 'own.txt': 'own\n' });
  const own = commitAll(repository);
  plainGit(repository, 'checkout', '-q', 'main');
  expect(await merge(first)).toEqual({
    refused:
      "Your branch troupe/demo has commits that the team's does not have. Nothing was changed. To give them to the team: " +
      'troupe work take. Or give your branch another name, then merge again: git branch -m troupe/demo old-troupe-demo',
  });
  expect(plainGit(repository, 'rev-parse', 'main', 'troupe/demo').split('\n')).toEqual([base, own]);
  plainGit(repository, 'branch', '-qf', 'troupe/demo', base);
  write(repository, { 'own.txt': 'own\n' });
  commitAll(repository);
  const hook = putHook(repository, 'pre-merge-commit', 'exit 1');
  expect(await merge(first)).toEqual({
    refused: expect.stringMatching(
      /^git did not merge troupe\/demo, and your files are as they were\.( It said:\n(?!.*took along).*)?$/s,
    ),
  });
  expect(plainGit(repository, 'rev-parse', 'troupe/demo')).toBe(base);
  rmSync(hook);
  // Every file that conflicts is named, also without a branch.
  write(repository, { 'src/a.ts': 'mine\n', 'src/b.ts': 'mine\n' });
  commitAll(repository);
  expect(await merge(first)).toEqual({
    refused: expect.stringContaining(
      'troupe/demo does not merge into main without a conflict in src/a.ts, src/b.ts. Nothing',
    ),
  });
  plainGit(repository, 'checkout', '-q', '--detach');
  expect(await merge(first)).toEqual({
    refused: expect.stringContaining('does not merge into HEAD without a conflict'),
  });
});

test('changes that the team took along are put away with git stash; -u is only for new files', async () => {
  const { repository, base, land, merge } = withDepot();
  const from = land({ 'src/b.ts': 'mine\n' });
  const tip = land({ 'new.txt': 'new\n' });
  write(repository, { 'src/b.ts': 'mine\n' });
  expect(await merge(tip, from)).toEqual({
    refused: expect.stringMatching(/The branch has the uncommitted files .* with git stash; then merge again$/s),
  });
  expect(plainGit(repository, 'rev-parse', 'HEAD')).toBe(base);
  plainGit(repository, 'stash', '-q');
  expect(await merge(tip, from)).toEqual({ into: 'main', merged: true });
});

test('of many ignored files that would be replaced ten are named', async () => {
  const { repository, land, merge } = withDepot();
  const names = (count: number) => Array.from({ length: count }, (_, at) => `${String(at).padStart(3, '0')}.log`);
  const tip = land(Object.fromEntries(names(502).map((name) => [name, 'theirs\n'])));
  write(repository, Object.fromEntries(names(10).map((name) => [name, 'mine\n'])));
  const refused = async () => ((await merge(tip)) as { refused: string }).refused;
  expect(await refused()).toContain(`would replace yours: ${names(10).join(', ')}. Nothing was changed.`);
  write(repository, Object.fromEntries(names(502).map((name) => [name, 'mine\n'])));
  expect(await refused()).toContain(`would replace yours: ${names(10).join(', ')} and 492 more. Nothing was changed.`);
});

test('large files of the work come along: whole, under their hash, and never twice', async () => {
  const { repository, depot, merge } = withDepot();
  const [one, two] = ['1'.repeat(64), 'ab'.repeat(32)];
  const at = (oid: string): string => `lfs/objects/${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`;
  write(depot, {
    [at(one)]: 'one',
    [at(two)]: 'two',
    'lfs/objects/tmp/12/notes': 'x',
    [`lfs/objects/${'c'.repeat(64)}/x`]: 'x',
  });
  symlinkSync('/etc/passwd', join(depot, 'lfs/objects/12'));
  write(repository, { [`.git/${at(two)}`]: 'two, of the user' });
  write(depot, { 'new.txt': 'new\n' });
  plainGit(depot, 'add', 'new.txt');
  plainGit(depot, 'commit', '-qm', 'new');
  expect(await merge(plainGit(depot, 'rev-parse', 'HEAD'))).toEqual({ into: 'main', merged: true });
  expect(contents(join(repository, '.git/lfs'), [])).toEqual({
    [at(one).slice(4)]: 'one',
    [at(two).slice(4)]: 'two, of the user',
  });
});
