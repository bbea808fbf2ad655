import type { TeamConfig } from '../../core/team.ts';
import type { Visit } from '../tool.ts';
import { fromMemberName } from '../words.ts';

/** The lead, the members, and the names of the team: ours, and that of Claude Code's own team which it is joined to. */
export async function rosterOf({
  call,
  teamId,
}: Visit): Promise<{ leadId: string; memberIds: string[]; names: string[] }> {
  const { leadId, members, metadata } = await call<TeamConfig>('team.show', { teamId });
  const { name } = (metadata?.['native'] ?? {}) as { name?: unknown };
  return {
    leadId,
    memberIds: members.map(({ id }) => id),
    names: typeof name === 'string' ? [teamId, name.toLowerCase()] : [teamId],
  };
}

/** Replaces the owner's name with the member id that the team knows. */
export async function withOwner<W extends { owner?: string | undefined }>(visit: Visit, words: W): Promise<W> {
  if (!words.owner) return words;
  return { ...words, owner: fromMemberName(words.owner, await rosterOf(visit)) };
}
