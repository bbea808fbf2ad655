import { USER } from '../../core/actor.ts';
import type { TeamRecord, TeamState } from '../../core/state.ts';
import type { UpdateTeamInput } from '../../core/team.ts';
import type { NewCommand } from '../../ledger/ledger.ts';
import type { TeamFile } from './schema.ts';

/** What a file says about the hours in which its team works, and about crashes, for a new team. */
export function nightOf({ quietHours, limits }: TeamFile): Pick<UpdateTeamInput, 'quietHours' | 'restartsPerNight'> {
  return {
    ...(quietHours !== undefined && { quietHours }),
    ...(limits?.restartsPerNight !== undefined && { restartsPerNight: limits.restartsPerNight }),
  };
}

/** The same for a standing team, as far as it changes something. */
export function changedNight(team: TeamRecord, file: TeamFile): ReturnType<typeof nightOf> {
  const { quietHours, restartsPerNight } = nightOf(file);
  return {
    ...(quietHours !== undefined && quietHours !== team.quietHours && { quietHours }),
    ...(restartsPerNight !== undefined && restartsPerNight !== team.restartsPerNight && { restartsPerNight }),
  };
}

/** Gives the lead, and the members of a standing team that run, what the file says about them. */
export function nightCommands(state: TeamState, file: TeamFile, leadId: string): NewCommand[] {
  const lead = typeof file.lead === 'object' ? [{ ...file.lead, name: leadId }] : [];
  const standing = state.team ? file.members : [];
  return [...lead, ...standing].flatMap(({ name: memberId, quietHours }): NewCommand[] => {
    const member = state.members.get(memberId);
    // A stopped member gets it when it joins again. The lead of a new team joins with the team.
    if (state.team && (!member || member.status === 'stopped')) return [];
    const isNew = quietHours !== undefined && quietHours !== member?.quietHours;
    return isNew ? [{ type: 'member.change', by: USER, memberId, quietHours }] : [];
  });
}
