import type { Client } from '../../client/client.ts';
import type { ResultOf } from '../../operations/index.ts';

/** The work of a team as it is now: the last save of a folder may be older than what is in it. */
export async function lookAtWork(client: Client, teamId: string, signal: AbortSignal): Promise<ResultOf<'work.show'>> {
  const work = await client.call('work.show', { teamId }, { signal });
  if (work.workspaces !== 'own' || !work.members) return work;
  const members = work.members.map(async (member) => {
    // What cannot be saved is shown as it was.
    const now = await client.call('work.check', { teamId, memberId: member.memberId }, { signal }).catch(() => ({}));
    return { ...member, ...now };
  });
  return { ...work, members: await Promise.all(members) };
}
