import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import { rejoinInput } from '../../core/rejoin.ts';
import type { MemberRecord, TeamState } from '../../core/state.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Mailbox } from '../../ledger/mailbox.ts';
import { givenBack, recordDeparture } from '../departure.ts';
import { awaitHost } from './waiting.ts';

/** Error codes that mean that another daemon was first. */
const OTHERS_WERE_FIRST: readonly string[] = ['claim_conflict', 'exists', 'member_stopped', 'not_found', 'team_closed'];

/**
 * Declares the members of a dead daemon lost: releases their tasks under a new epoch and tells the lead. Members that
 * are not bound to it wait for another daemon. Every daemon does this; the journal accepts each step once.
 */
export async function declareLost(
  { ledger, mailbox }: { ledger: Ledger; mailbox: Mailbox },
  teamId: string,
  hostId: string,
  { isAlone = false } = {},
): Promise<void> {
  const { lost, leadId } = await ledger.view(teamId, (state) => ({
    lost: membersOn(state, hostId),
    leadId: state.team?.leadId,
  }));
  for (const member of lost) {
    try {
      const isBound = member.host === hostId && !isAlone;
      if (member.status !== 'stopped') {
        const reason = `its machine ${hostId} is gone`;
        // It stays stopped as long as its machine is away, and everyone should see why.
        const waiting = isBound ? awaitHost(hostId) : undefined;
        const left = { teamId, memberId: member.id, hostId, reason, returning: true, waiting };
        const held = await recordDeparture(ledger, left);
        if (leadId !== undefined && leadId !== member.id) {
          await mailbox.send(teamId, SYSTEM, notice(leadId, member.id, { hostId, held, isBound, isAlone }));
        }
      }
      if (isBound) continue;
      const { host, ...anywhere } = rejoinInput(member);
      const input = isAlone || host === undefined ? anywhere : { ...anywhere, host };
      await ledger.execute(teamId, { type: 'member.join', by: SYSTEM, ...input }, () => {});
    } catch (error) {
      if (!(error instanceof TeamError) || !OTHERS_WERE_FIRST.includes(error.code)) throw error;
    }
  }
}

/**
 * Without a shared journal there are no machines to wait for: members on another machine came with a copy. Declares
 * them lost and starts them here, including those bound to a machine.
 */
export async function bringHome(
  parts: { ledger: Ledger; mailbox: Mailbox },
  { self, onError }: { self: string; onError: (error: unknown, about: { teamId: string }) => void },
): Promise<void> {
  for (const teamId of await parts.ledger.teams()) {
    try {
      for (const hostId of await parts.ledger.view(teamId, hostsOf)) {
        if (hostId !== self) await declareLost(parts, teamId, hostId, { isAlone: true });
      }
    } catch (error) {
      onError(error, { teamId });
    }
  }
}

/** The daemons that have members of a team. */
export function hostsOf(state: TeamState): Set<string> {
  const names = [...state.members.values()].flatMap(({ hostId }) => hostId ?? []);
  return new Set(names.filter((name) => membersOn(state, name).length > 0));
}

/** The members that run on a daemon, or were about to restart there. */
function membersOn(state: TeamState, hostId: string): MemberRecord[] {
  if (state.team?.status !== 'active') return [];
  return [...state.members.values()].filter(
    (member) => member.agent && member.hostId === hostId && (member.status !== 'stopped' || member.returning),
  );
}

function notice(
  leadId: string,
  memberId: string,
  { hostId, held, isBound, isAlone }: { hostId: string; held: readonly string[]; isBound: boolean; isAlone: boolean },
) {
  const next = isBound
    ? `It restarts when ${hostId} is back.`
    : `It restarts ${isAlone ? 'here' : 'on another machine'}.`;
  const content = `${memberId} is lost: the machine ${hostId} is gone.${givenBack(held)} ${next}`;
  return { toId: leadId, content, type: 'system' as const, metadata: { memberId } };
}
