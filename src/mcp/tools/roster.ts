import type { TeamConfig } from '../../core/team.ts';
import type { Visit } from '../tool.ts';

/** Who leads and who is on the team. */
export async function rosterOf({ call, teamId }: Visit): Promise<{ leadId: string; memberIds: string[] }> {
  const { leadId, members } = await call<TeamConfig>('team.show', { teamId });
  return { leadId, memberIds: members.map(({ id }) => id) };
}
