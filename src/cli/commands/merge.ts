import { shortId } from '../../core/commit-id.ts';
import type { ResultOf } from '../../operations/index.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { findCheckout } from '../reach/checkout.ts';
import { openClient } from '../reach/connect.ts';
import { gitIn } from '../reach/git.ts';
import type { Said, UserGit } from '../reach/git.ts';
import { bringLargeFiles } from '../reach/large-files.ts';
import { Refusal } from '../show/errors.ts';
import { clean, fold } from '../show/text.ts';
import { sizeOf } from '../show/work-size.ts';
import { print, toJson } from '../show/write.ts';

type Work = ResultOf<'work.show'>;

/** What a merge led to. */
interface Merged {
  readonly team: string;
  readonly branch: string;
  /** The branch of the checkout; absent if its HEAD is detached. */
  readonly into?: string;
  readonly tip: string;
  readonly merged: boolean;
}

/**
 * Brings a team's branch into the user's checkout, with the user's own git: their hooks, identity and signature. A merge
 * that would conflict is not begun, and one that git refuses is taken back, so the checkout is never left half merged.
 */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { teamId } = given.input as { teamId: string };
  const client = openClient(environment);
  try {
    const work = await client.call('work.show', { teamId }, { signal });
    if (work.workspaces === 'shared') {
      throw new Refusal('conflict', `The members of team ${teamId} share a folder: their changes are there already`);
    }
    const repository = await findCheckout(client, teamId, work);
    const outcome = mergeBranch(teamId, { ...work, repository }, environment);
    if (given.json) print(toJson(outcome, screen.isTerminal ? 2 : undefined));
    else print(fold(`${wordOutcome(outcome, work)}\n`, screen));
    return 0;
  } finally {
    client.close();
  }
}

/**
 * Settings of the user must not leave a merge half done. What `merge.autoStash` puts away may conflict when it comes back,
 * and git calls that a success. `branch.NAME.mergeOptions` may say `--no-commit` or `--squash`.
 */
const WHOLE = ['--no-edit', '--no-autostash', '--commit', '--no-squash'];

function mergeBranch(
  team: string,
  work: Work & { readonly repository: string },
  environment: NodeJS.ProcessEnv,
): Merged {
  const { repository, branch = '', base, tip = '', depot = '' } = work;
  const git = gitIn(repository, environment);
  const into = git(['symbolic-ref', '--quiet', '--short', 'HEAD']).out;
  const about = { team, branch, ...(into !== '' && { into }), tip };
  if (tip === base) return { ...about, merged: false };
  // A merge that fails is taken back, and that would take back one of the user's, too.
  if (git(['rev-parse', '--quiet', '--verify', 'MERGE_HEAD']).code === 0) throw inMergeError();
  // Git does not fetch into the branch that is checked out. Then the commit is merged into it.
  const isHere = into === branch;
  fetchBranch(git, { branch, tip, depot, isHere });
  bringLargeFiles(git, { repository, depot });
  if (git(['merge-base', '--is-ancestor', tip, 'HEAD']).code === 0) return { ...about, merged: false };
  const trial = git(['merge-tree', '--write-tree', '--name-only', '--no-messages', 'HEAD', tip]);
  if (trial.code === 1) throw conflictError({ branch, into: into || 'HEAD', paths: trial.out.split('\n').slice(1) });
  requireGit(trial);
  const merge = git(['merge', ...WHOLE, isHere ? tip : branch]);
  if (merge.code !== 0) {
    git(['merge', '--abort']);
    throw new Refusal('conflict', `git did not merge ${branch}, and nothing was changed. It said:\n${merge.said}`);
  }
  return { ...about, merged: true };
}

function fetchBranch(
  git: UserGit,
  { branch, tip, depot, isHere }: { branch: string; tip: string; depot: string; isHere: boolean },
): void {
  const ours = `refs/heads/${branch}`;
  const fetch = (what: string): void =>
    requireGit(git(['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', depot, what]));
  fetch(ours);
  if (isHere) return;
  // Git says nothing with --quiet, and in the user's language without.
  const { code, out: there } = git(['rev-parse', '--quiet', '--verify', ours]);
  if (code === 0 && git(['merge-base', '--is-ancestor', there, tip]).code !== 0) throw otherBranchError(branch);
  fetch(`${ours}:${ours}`);
}

function wordOutcome({ branch, into = 'the detached HEAD', tip, merged, team }: Merged, work: Work): string {
  if (merged) {
    return `Merged ${clean(branch)} into ${clean(into)}: ${sizeOf(work)}, ${shortId(work.base ?? '')}..${shortId(tip)}.`;
  }
  if (work.base === tip) return `Nothing has landed on ${clean(branch)} yet: troupe work --team ${clean(team)}`;
  return `${clean(into)} has all of ${clean(branch)} already.`;
}

/** A branch of this name is of an earlier team, or the user has committed on it. It is never overwritten. */
function otherBranchError(branch: string): Refusal {
  return new Refusal(
    'conflict',
    `Your branch ${branch} has commits that the team's does not have. Nothing was changed. ` +
      'To give them to the team: troupe work take. Or give your branch another name, then merge again: ' +
      `git branch -m ${branch} old-${branch.replaceAll('/', '-')}`,
  );
}

function inMergeError(): Refusal {
  return new Refusal(
    'conflict',
    'A merge is in progress in your checkout. Finish it with git commit, or take it back with git merge --abort; then merge again',
  );
}

function conflictError({ branch, into, paths }: { branch: string; into: string; paths: readonly string[] }): Refusal {
  const names = paths.filter((path) => path !== '').join(', ');
  return new Refusal(
    'conflict',
    `${branch} does not merge into ${into} without a conflict in ${names}. Your files were not changed; the branch is in your repository now. ` +
      `To resolve it yourself: git merge ${branch}`,
  );
}

function requireGit({ code, said }: Said): void {
  if (code !== 0) throw new Refusal('conflict', `git refused, and nothing was merged. It said:\n${said}`);
}
