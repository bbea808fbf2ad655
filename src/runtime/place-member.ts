import { SYSTEM } from '../core/actor.ts';
import { hasProcess } from '../core/agent-kinds.ts';
import { TeamError } from '../core/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** What the process of a member must know of its part in the team. */
interface Part {
  readonly leadTerm: number | undefined;
  readonly leads: boolean;
}

/** Records that this daemon runs a member. Undefined if the member needs no process. */
export async function placeMember(
  ledger: Ledger,
  { teamId, memberId, hostId }: { teamId: string; memberId: string; hostId: string },
): Promise<Part | undefined> {
  return ledger.execute(teamId, { type: 'member.place', by: SYSTEM, memberId, hostId }, ({ members, team }) => {
    const { agent } = members.get(memberId) ?? {};
    if (!agent || !hasProcess(agent)) return undefined;
    return { leadTerm: team?.leadTerm, leads: team?.leadId === memberId };
  });
}

/** Another daemon runs the member, or it is gone again: neither is a fault. */
export function isElsewhere(error: unknown): boolean {
  const codes = ['claim_conflict', 'not_found', 'member_stopped', 'team_closed'];
  return error instanceof TeamError && codes.includes(error.code);
}
