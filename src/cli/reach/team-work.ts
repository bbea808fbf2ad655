import type { Client } from '../../client/client.ts';
import type { ResultOf } from '../../operations/index.ts';
import { wordUnmerged } from '../show/unmerged.ts';
import { gitIn } from './git.ts';

type Work = ResultOf<'work.show'>;

/** The work of a team as it is now: the last save of a folder may be older than what is in it. */
export async function lookAtWork(client: Client, teamId: string, signal: AbortSignal): Promise<Work> {
  const work = await client.call('work.show', { teamId }, { signal });
  if (work.workspaces !== 'own' || !work.members) return work;
  const members = work.members.map(async (member) => {
    // What cannot be saved is shown as it was.
    const now = await client.call('work.check', { teamId, memberId: member.memberId }, { signal }).catch(() => ({}));
    return { ...member, ...now };
  });
  return { ...work, members: await Promise.all(members) };
}

/** Describes work that is on no branch of the user. A team whose work cannot be looked at can be deleted, too. */
export async function describeUnmerged(
  client: Client,
  { teamId, isDeleted }: { readonly teamId: string; readonly isDeleted: boolean },
  { environment, signal }: { readonly environment: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<string> {
  const work = await lookAtWork(client, teamId, signal).catch(() => undefined);
  if (work?.workspaces !== 'own') return '';
  return wordUnmerged(work, { teamId, isDeleted, isMerged: hasLanded(work, environment, { copies: false }) });
}

/**
 * Whether the repository of the user has all that landed. A copy of the team's branch itself is not merged, but it stays
 * when the team or Troupe goes: `copies` says whether that is enough.
 */
export function hasLanded(
  { repository, branch = '', tip = '' }: Work,
  environment: NodeJS.ProcessEnv,
  { copies }: { readonly copies: boolean },
): boolean {
  if (repository === undefined) return false;
  const git = gitIn(repository, environment);
  if (git(['merge-base', '--is-ancestor', tip, 'HEAD']).code === 0) return true;
  const where = copies ? [] : ['refs/heads', 'refs/remotes'];
  const { code, out } = git(['for-each-ref', `--contains=${tip}`, '--format=%(refname)', ...where]);
  return code === 0 && out.split('\n').some((ref) => ref !== '' && (copies || !ref.endsWith(`/${branch}`)));
}
