import { SYSTEM } from '../../core/actor.ts';
import type { TeamState } from '../../core/state.ts';
import type { NewCommand } from '../../ledger/ledger.ts';
import { isForSeats, LEFT_NATIVE, nativeMemberName, seatOf } from './names.ts';
import type { MirrorParts } from './parts.ts';

/** Members that sit in a native team go with it, and a team that is there for them alone. */
export interface Ending {
  /** It is there. */
  back(): void;
  /** It is not; it may be put back within a moment. Says what is over by now. */
  away(): Promise<'not yet' | 'its seats' | 'all of it'>;
}

/** Begins with a native team that is there. */
export function watchEnding({ ledger, teamId, times }: Pick<MirrorParts, 'ledger' | 'teamId' | 'times'>): Ending {
  let since: number | undefined;
  return {
    back() {
      since = undefined;
    },
    async away() {
      since ??= performance.now();
      if (performance.now() - since < times.gone) return 'not yet';
      const { commands, isOver } = await ledger.view(teamId, endingOf);
      if (commands.length > 0) await ledger.execute(teamId, commands, () => undefined);
      return isOver ? 'all of it' : 'its seats';
    },
  };
}

function endingOf(state: TeamState): { commands: NewCommand[]; isOver: boolean } {
  const here = [...state.members.values()].filter(
    ({ id, status }) => status !== 'stopped' && id !== state.team?.leadId,
  );
  const seated = here.filter((member) => seatOf(member) !== undefined);
  const others = here.filter((member) => seatOf(member) === undefined && nativeMemberName(member) === undefined);
  const isOver = isForSeats(state) && others.length === 0 && state.team?.status === 'active';
  if (isOver) return { commands: [{ type: 'team.close', by: SYSTEM, force: true }], isOver };
  const commands = seated.map(({ id: memberId }): NewCommand => {
    return { type: 'member.leave', by: SYSTEM, memberId, reason: LEFT_NATIVE, returning: false };
  });
  return { commands, isOver };
}
