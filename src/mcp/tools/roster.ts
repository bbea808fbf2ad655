import type { TeamConfig } from '../../core/team.ts';
import type { Visit } from '../tool.ts';
import { fromMemberName } from '../words.ts';

/** The lead and the members of the team. */
export async function rosterOf({ call, teamId }: Visit): Promise<{ leadId: string; memberIds: string[] }> {
  const { leadId, members } = await call<TeamConfig>('team.show', { teamId });
  return { leadId, memberIds: members.map(({ id }) => id) };
}

/** Replaces the owner's name with the member id that the team knows. */
export async function withOwner<W extends { owner?: string | undefined }>(visit: Visit, words: W): Promise<W> {
  if (!words.owner) return words;
  return { ...words, owner: fromMemberName(words.owner, await rosterOf(visit)) };
}
