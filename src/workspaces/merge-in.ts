import { existsSync } from 'node:fs';
import { shellWord } from '../core/shell.ts';
import { bringLargeFiles } from './bring-large-files.ts';
import { findInTheWay } from './in-the-way.ts';
import type { Said, UsersGit } from './users-git.ts';

/** A team's branch, and where it is until it is merged. */
export interface TeamBranch {
  readonly branch: string;
  readonly base: string;
  readonly tip: string;
  readonly depot: string;
}

/** What a merge led to. */
export interface MergedBranch {
  /** The branch of the checkout; absent if its HEAD is detached. */
  readonly into?: string;
  /** False: nothing had landed, or the checkout had it all. */
  readonly merged: boolean;
}

/** Why nothing was merged, and what to do. */
export interface NotMerged {
  readonly refused: string;
  /** The signal that ended git, if one did. */
  readonly endedBy?: string;
}

/**
 * Settings of the user must not leave a merge half done. What `merge.autoStash` puts away may conflict when it comes back,
 * and git calls that a success. `branch.NAME.mergeOptions` may say `--no-commit` or `--squash`.
 */
const WHOLE = ['--no-edit', '--no-autostash', '--commit', '--no-squash'];

/**
 * Brings a team's branch into the user's checkout, with the user's own git. A merge that would conflict is not begun, and
 * one that git refuses is taken back: neither the checkout nor a branch is left changed. Without a conflict, the
 * repository has the team's branch afterwards.
 */
export async function mergeIn(
  git: UsersGit,
  { repository, work }: { readonly repository: string; readonly work: TeamBranch },
): Promise<MergedBranch | NotMerged> {
  const { branch, base, tip, depot } = work;
  const into = (await git(['symbolic-ref', '--quiet', '--short', 'HEAD'])).out;
  const about = into === '' ? {} : { into };
  if (tip === base) return { ...about, merged: false };
  const underWay = await findUnderWay(git);
  if (underWay !== undefined) return { refused: underWay };
  // Git does not fetch into the branch that is checked out. Then the commit is merged into it.
  const isHere = into === branch;
  const ours = `refs/heads/${branch}`;
  const before = (await git(['rev-parse', '--quiet', '--verify', ours])).out;
  // Only its commits: no branch changes before it is known that they merge.
  const fetched = await fetch(git, depot, ours);
  const problem = fetched ?? (isHere ? undefined : await findProblem(git, { branch, before, tip }));
  if (problem !== undefined) return { refused: problem };
  await bringLargeFiles(git, { repository, depot });
  if ((await git(['merge-base', '--is-ancestor', tip, 'HEAD'])).code === 0) return { ...about, merged: false };
  const trial = await git(['merge-tree', '--write-tree', '--name-only', '--no-messages', 'HEAD', tip]);
  const [merged = '', ...conflicts] = trial.out.split('\n');
  // Git answers 1 also if there is nothing to merge into, such as on a branch without a commit.
  if (trial.code === 1 && merged !== '') return { refused: wordConflict(work, into || 'HEAD', conflicts) };
  if (trial.code !== 0) return { refused: wordRefusal(trial) };
  const hidden = await findHidden(git, { repository, merged });
  if (hidden.length > 0) return { refused: wordHidden(branch, hidden) };
  const placed = isHere ? undefined : await fetch(git, depot, `${ours}:${ours}`);
  if (placed !== undefined) return { refused: placed };
  const staged = await git(['write-tree']);
  const merge = await git(['merge', ...WHOLE, isHere ? tip : await nameOf(git, { branch, tip })]);
  // A merge that was interrupted after its commit, as in a hook, is one.
  if ((await git(['merge-base', '--is-ancestor', tip, 'HEAD'])).code === 0) return { ...about, merged: true };
  const isBack = await takeBack(git, staged.out);
  if (!isHere) await git(['update-ref', ...(before === '' ? ['-d', ours] : [ours, before]), tip]);
  // A base that the checkout does not have was made from its uncommitted files.
  const isTaken = (await git(['merge-base', '--is-ancestor', base, 'HEAD'])).code === 1;
  const next = isTaken ? wordTakenAlong(await isUntrackedInTheWay(git, { repository, tip })) : '';
  const { said, endedBy } = merge;
  const why = endedBy === undefined ? '' : ` It was ended by ${endedBy}.`;
  const refused = `${wordBroken(branch, isBack)}${why}${said === '' ? '' : ` It said:\n${said}`}${next}`;
  return { refused, ...(endedBy !== undefined && { endedBy }) };
}

/** The branch by its short name, which git puts into the message; in full if a tag has the same name. */
async function nameOf(git: UsersGit, { branch, tip }: { branch: string; tip: string }): Promise<string> {
  const found = await git(['rev-parse', '--verify', '--quiet', branch]);
  return found.out === tip ? branch : `refs/heads/${branch}`;
}

/** Takes back what is left of a merge that failed. Returns whether all is as it was: the index had the tree `staged`. */
async function takeBack(git: UsersGit, staged: string): Promise<boolean> {
  await git(['merge', '--abort']);
  // Git has nothing to abort if a hook refused to move the branch, or if it was interrupted before it wrote of a merge.
  const { out: now } = await git(['write-tree']);
  if (now !== staged) {
    await git(['update-index', '-q', '--refresh']);
    const back = await git(['read-tree', '-m', '-u', now, staged]);
    if (back.code !== 0) return false;
  }
  // The abort fails if a hook refuses that, too. The next commit of the user would count as the merge.
  return (await git(['merge', '--quit'])).code === 0;
}

function wordBroken(branch: string, isBack: boolean): string {
  if (isBack) return `git did not merge ${branch}, and your files are as they were.`;
  return `git did not merge ${branch}, and could not take back what it had begun: see git status.`;
}

/** Fetches from the depot; returns why git refused. */
async function fetch(git: UsersGit, depot: string, what: string): Promise<string | undefined> {
  const said = await git(['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', depot, what]);
  return said.code === 0 ? undefined : wordRefusal(said);
}

/** Why the user's repository cannot have the branch, if its commits are there. */
async function findProblem(
  git: UsersGit,
  { branch, before, tip }: { branch: string; before: string; tip: string },
): Promise<string | undefined> {
  // Git says nothing with --quiet, and in the user's language without.
  const isOther = before !== '' && (await git(['merge-base', '--is-ancestor', before, tip])).code !== 0;
  if (isOther) return wordOtherBranch(branch);
  const taken = await findBranchInTheWay(git, branch);
  return taken === undefined ? undefined : wordInTheWay(branch, taken);
}

/** A branch of the user that leaves no room for another: git keeps no `troupe/demo` beside a `troupe`. */
async function findBranchInTheWay(git: UsersGit, branch: string): Promise<string | undefined> {
  const parts = branch.split('/');
  const above = parts.slice(1).map((_, at) => `refs/heads/${parts.slice(0, at + 1).join('/')}`);
  const { out } = await git(['for-each-ref', '--format=%(refname)', ...above, `refs/heads/${branch}/`]);
  const isOne = (ref: string): boolean => above.includes(ref) || ref.startsWith(`refs/heads/${branch}/`);
  return out.split('\n').find(isOne)?.replace('refs/heads/', '');
}

function wordInTheWay(branch: string, taken: string): string {
  return (
    `Git cannot have a branch ${branch} beside your branch ${taken}. Nothing was changed. ` +
    `Give yours another name, then merge again: git branch -m ${taken} old-${taken.replaceAll('/', '-')}`
  );
}

/** Whether the branch has a file that is untracked in the checkout. Without -u, `git stash` leaves it there. */
async function isUntrackedInTheWay(git: UsersGit, { repository, tip }: { repository: string; tip: string }) {
  return (await findReplaced(git, { repository, to: tip })).length > 0;
}

/** What is in the checkout, and not in HEAD, where a commit or tree adds something. */
async function findReplaced(git: UsersGit, { repository, to }: { repository: string; to: string }): Promise<string[]> {
  const { out } = await git(['diff', '--name-status', '--no-renames', '--diff-filter=AD', '-z', 'HEAD', to]);
  const words = out.split('\0');
  const changes = words.flatMap((path, at) => {
    const status = words[at - 1] === 'A' ? ('added' as const) : ('deleted' as const);
    return at % 2 === 0 ? [] : [{ path: Buffer.from(path), status }];
  });
  return (await findInTheWay(repository, changes)).map(String);
}

/** Ignored files of the user that a merge would replace: git does that without a word, and nobody has another copy. */
async function findHidden(
  git: UsersGit,
  { repository, merged }: { readonly repository: string; readonly merged: string },
): Promise<string[]> {
  const paths = await findReplaced(git, { repository, to: merged });
  const hidden: string[] = [];
  // A command line is limited.
  for (let i = 0; i < paths.length; i += 500) {
    const words = ['--literal-pathspecs', 'ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--'];
    const { out } = await git([...words, ...paths.slice(i, i + 500)]);
    hidden.push(...out.split('\0').filter((path) => path !== ''));
  }
  return hidden;
}

function wordHidden(branch: string, paths: readonly string[]): string {
  const more = paths.length > 10 ? ` and ${paths.length - 10} more` : '';
  return (
    `${branch} has files that git ignores in your checkout, and would replace yours: ${paths.slice(0, 10).join(', ')}${more}. ` +
    'Nothing was changed. Move yours away, then merge again'
  );
}

function wordTakenAlong(isUntracked: boolean): string {
  return (
    '\nThe branch has the uncommitted files that the team took along when it began. ' +
    `Commit yours, or put them away with git stash${isUntracked ? ' -u' : ''}; then merge again`
  );
}

/** What may be under way in a checkout: the file of git that says so, its name, how it is finished and taken back. */
const UNDER_WAY = [
  ['MERGE_HEAD', 'A merge', 'git commit', 'git merge --abort'],
  ['CHERRY_PICK_HEAD', 'A cherry-pick', 'git cherry-pick --continue', 'git cherry-pick --abort'],
  ['REVERT_HEAD', 'A revert', 'git revert --continue', 'git revert --abort'],
  ['rebase-merge', 'A rebase', 'git rebase --continue', 'git rebase --abort'],
  ['rebase-apply/applying', 'git am', 'git am --continue', 'git am --abort'],
  ['rebase-apply', 'A rebase', 'git rebase --continue', 'git rebase --abort'],
] as const;

/**
 * What is under way in the checkout, and what to do. A merge that fails is taken back, and that would take back one of
 * the user's, too. One in a rebase would end up between the user's commits, and go with it if that is taken back.
 */
async function findUnderWay(git: UsersGit): Promise<string | undefined> {
  const names = UNDER_WAY.flatMap(([name]) => ['--git-path', name]);
  const paths = (await git(['rev-parse', '--path-format=absolute', ...names])).out.split('\n');
  const found = UNDER_WAY[paths.findIndex((path) => existsSync(path))];
  if (!found) return undefined;
  const [, what, finish, takeBackBy] = found;
  return `${what} is in progress in your checkout. Finish it with ${finish}, or take it back with ${takeBackBy}; then merge again`;
}

/** A branch of this name is of an earlier team, or the user has committed on it. It is never overwritten. */
function wordOtherBranch(branch: string): string {
  return (
    `Your branch ${branch} has commits that the team's does not have. Nothing was changed. ` +
    'To give them to the team: troupe work take. Or give your branch another name, then merge again: ' +
    `git branch -m ${branch} old-${branch.replaceAll('/', '-')}`
  );
}

function wordConflict({ branch, depot }: TeamBranch, into: string, paths: readonly string[]): string {
  return (
    `${branch} does not merge into ${into} without a conflict in ${paths.join(', ')}. Nothing was changed. ` +
    `To resolve it yourself: git pull --no-rebase ${shellWord(depot)} ${branch}`
  );
}

function wordRefusal({ said }: Said): string {
  return `git refused, and nothing was merged. It said:\n${said}`;
}
