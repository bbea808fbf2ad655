import { z } from 'zod';
import { SYSTEM } from '../../core/actor.ts';
import type { TeamState } from '../../core/state.ts';
import type { NewCommand } from '../../ledger/ledger.ts';

/** Where a team keeps them. */
const SHUTDOWNS = 'nativeShutdowns';

/** The ids of native shutdown requests that wait for an answer, by member. */
export function openShutdowns(state: TeamState): Readonly<Record<string, string>> {
  return z.record(z.string(), z.string()).safeParse(state.team?.metadata?.[SHUTDOWNS]).data ?? {};
}

/** Keeps them in the journal: who answers may be another daemon than the one that was asked. */
export function noteShutdowns(open: Readonly<Record<string, string>>): NewCommand {
  const metadata = { [SHUTDOWNS]: Object.keys(open).length > 0 ? { ...open } : null };
  return { type: 'team.update', by: SYSTEM, metadata };
}

/** How a member's last shutdown request was answered; one that has stopped has agreed. */
export function decisionOf(state: TeamState, memberId: string): { approved: boolean; reason: string } | undefined {
  if (state.members.get(memberId)?.status === 'stopped') return { approved: true, reason: '' };
  const last = [...state.requests.values()].findLast((one) => one.kind === 'shutdown' && one.memberId === memberId);
  if (last?.status === 'approved') return { approved: true, reason: '' };
  return last?.status === 'rejected' ? { approved: false, reason: last.feedback ?? '' } : undefined;
}
