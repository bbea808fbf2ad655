import { isDeepStrictEqual } from 'node:util';
import { USER } from '../../core/actor.ts';
import type { TeamRecord, TeamState } from '../../core/state.ts';
import type { UpdateTeamInput } from '../../core/team.ts';
import type { NewCommand } from '../../ledger/ledger.ts';
import { onLimitIn } from './fallbacks.ts';
import type { TeamFile } from './schema.ts';

type Night = Pick<UpdateTeamInput, 'quietHours' | 'restartsPerNight' | 'onLimit'>;

/** What a file says about the hours in which its team works, limits of accounts, and crashes, for a new team. */
export function nightOf(file: TeamFile): Night {
  const { quietHours, limits } = file;
  const onLimit = onLimitIn(file);
  return {
    ...(onLimit && { onLimit }),
    ...(quietHours !== undefined && { quietHours }),
    ...(limits?.restartsPerNight !== undefined && { restartsPerNight: limits.restartsPerNight }),
  };
}

/** The same for a standing team, as far as it changes something. */
export function changedNight(team: TeamRecord, file: TeamFile): Night {
  const { quietHours, restartsPerNight, onLimit } = nightOf(file);
  return {
    ...(onLimit && !isDeepStrictEqual(onLimit, team.onLimit) && { onLimit }),
    ...(quietHours !== undefined && quietHours !== team.quietHours && { quietHours }),
    ...(restartsPerNight !== undefined && restartsPerNight !== team.restartsPerNight && { restartsPerNight }),
  };
}

/** Gives the lead, and the members of a standing team that run, what the file says about them. */
export function nightCommands(state: TeamState, file: TeamFile, leadId: string): NewCommand[] {
  const lead = typeof file.lead === 'object' ? [{ ...file.lead, name: leadId }] : [];
  const standing = state.team ? file.members : [];
  return [...lead, ...standing].flatMap((entry): NewCommand[] => {
    const { name: memberId, quietHours } = entry;
    const member = state.members.get(memberId);
    // A stopped member gets it when it joins again. The lead of a new team joins with the team.
    if (state.team && (!member || member.status === 'stopped')) return [];
    const onLimit = onLimitIn(file, entry);
    const changes = {
      ...(quietHours !== undefined && quietHours !== member?.quietHours && { quietHours }),
      ...(onLimit && !isDeepStrictEqual(onLimit, member?.onLimit) && { onLimit }),
    };
    return Object.keys(changes).length > 0 ? [{ type: 'member.change', by: USER, memberId, ...changes }] : [];
  });
}
