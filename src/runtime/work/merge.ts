import { TeamError } from '../../core/errors.ts';
import { GitError } from '../../workspaces/git-errors.ts';
import type { Git } from '../../workspaces/git.ts';
import { mergeIn } from '../../workspaces/merge-in.ts';
import type { MergedBranch } from '../../workspaces/merge-in.ts';
import { isFolder } from '../../workspaces/places.ts';
import { openQueue } from '../../workspaces/queue.ts';
import type { UsersGit } from '../../workspaces/users-git.ts';
import type { TeamWorks } from './team-works.ts';

/** What a merge led to, and how much the branch brings. */
export interface MergeOutcome extends MergedBranch {
  readonly team: string;
  readonly branch: string;
  readonly base: string;
  readonly tip: string;
  readonly files: number;
  readonly added: number;
  readonly removed: number;
}

/** One at a time: a merge that fails is taken back, and that must never be another one. */
const alone = openQueue();

/** Merges the branch of a team into the user's checkout on this machine, by the rules of `troupe merge`. */
export async function mergeWork(works: TeamWorks, teamId: string): Promise<MergeOutcome> {
  const place = await works.placeOf(teamId);
  if (!place) {
    throw new TeamError('conflict', `The members of team ${teamId} share a folder: their changes are there already`);
  }
  // The branch of a closed team may be behind, if a daemon was killed at the wrong moment.
  await works.align(teamId);
  const { depot, checkout, work } = place;
  const { folder: repository } = checkout;
  if (checkout.isAbsent === true || !(await isFolder(repository))) {
    throw new TeamError(
      'conflict',
      `This machine has no checkout of the team's repository where it was: run troupe merge --team ${teamId} in the folder to which you moved it, or on a machine that has one`,
    );
  }
  const { branch, base, tip } = work;
  const { files, added, deleted } = await depot.diff(base, tip, { maxBytes: 0 });
  const git = usersGit(depot.handle.git, repository);
  const merged = await alone(() => mergeIn(git, { repository, work: { branch, base, tip, depot: depot.dir } }));
  if ('refused' in merged) throw new TeamError('conflict', merged.refused);
  return { team: teamId, branch, base, tip, ...merged, files: files.length, added, removed: deleted };
}

/** Not the exit code of any answer, so that a command that was ended is never taken for one. */
const ENDED = 128;

function usersGit(git: Git, folder: string): UsersGit {
  return async (args) => {
    try {
      const { code, out, err } = await git.asUser(folder, args);
      const text = out.toString().trim();
      return { code, out: text, said: [text, err.trim()].filter(Boolean).join('\n') };
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      return { code: ENDED, out: '', said: error.message };
    }
  };
}
