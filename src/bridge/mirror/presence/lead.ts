import { isSimple, isWhole } from '../../config-file.ts';
import { NATIVE_LEAD } from '../../layout.ts';
import { leadLives } from '../../leftovers.ts';
import type { NativeTeam } from '../../snapshot.ts';
import { isBridged } from './signature.ts';

/** The native lead's name: nearly always `team-lead`. */
export function leadOf({ config }: NativeTeam): string {
  return (
    config?.members.find(({ agentId }) => agentId !== undefined && agentId === config.leadAgentId)?.name ?? NATIVE_LEAD
  );
}

/** In the newest version a lead reads its inbox only while it has a teammate that it started itself. */
export function leadReads(team: NativeTeam): boolean {
  if (team.config?.leadProcess === undefined) return true;
  const lead = leadOf(team);
  return team.config.members.some((member) => member.name !== lead && !isBridged(member));
}

/** Says that the lead's process is gone, if the version records the process. */
export function leadEnded(team: NativeTeam): string | undefined {
  if (leadLives(team) !== false) return undefined;
  return `its lead has ended (process ${team.config?.leadProcess?.pid}) and left the team behind: resume it in Claude Code`;
}

/** Why a native team cannot be joined; undefined if it can. */
export function whyNotJoin(team: NativeTeam): string | undefined {
  if (team.kind === 'session') return 'it is the task list of a session without a team';
  if (!team.config) return team.problems[0] ?? 'it has no config.json';
  if (!isWhole(team.config) && !isSimple(team.config)) {
    return 'its config.json has no leadAgentId, or members without agentId';
  }
  return team.readOnly;
}
