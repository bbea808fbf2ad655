import { SYSTEM } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Metadata } from '../core/json.ts';
import { afterCrash } from '../core/restarts.ts';
import type { MemberRecord } from '../core/state.ts';
import type { Ledger, NewCommand } from '../ledger/ledger.ts';
import type { Mailbox } from '../ledger/mailbox.ts';
import { runsOn } from './hosts/placement.ts';

/** A member whose process is gone. */
export interface Departure {
  readonly teamId: string;
  readonly memberId: string;
  /** The daemon that ran it. */
  readonly hostId: string;
  readonly reason: string;
  /** It is restarted soon. */
  readonly returning?: boolean;
  /** What a person is asked before it is started again; without it, nobody is. */
  readonly question?: { readonly content: string; readonly detail?: Metadata } | undefined;
  /** What it waits for until then; shown to everyone. */
  readonly waiting?: string | undefined;
}

/** Marks a member as stopped; in the same step asks a person whether to restart it. Returns the released tasks. */
export function recordDeparture(ledger: Ledger, departure: Departure): Promise<string[]> {
  const { teamId, memberId, hostId, reason, returning = false, question, waiting } = departure;
  const commands: NewCommand[] = [{ type: 'member.leave', by: SYSTEM, memberId, reason, returning, hostId }];
  if (waiting !== undefined) {
    commands.unshift({ type: 'member.change', by: SYSTEM, memberId, metadata: { waiting: { reason: waiting } } });
  }
  if (question) commands.push({ type: 'request.raise', by: SYSTEM, kind: 'restart', memberId, ...question });
  return ledger.execute(teamId, commands, (_state, events) =>
    events.flatMap((event) => (event.type === 'task:released' ? event.taskId : [])),
  );
}

/** The released tasks, as the lead reads it. */
export function givenBack(held: readonly string[]): string {
  return held.length > 0 ? ` Given back: ${held.map((id) => `#${id}`).join(', ')}.` : '';
}

/**
 * Records that a member's process died unasked, and tells the lead. Returns the member and when it restarts; nothing if
 * nobody needs to know, because the member was about to stop or is not ours.
 */
export async function recordCrash(
  { ledger, mailbox, hostId }: { ledger: Ledger; mailbox: Mailbox; hostId: string },
  { teamId, memberId, how }: { teamId: string; memberId: string; how: string },
): Promise<{ member: MemberRecord; restartsIn: number | undefined } | undefined> {
  const { member, perNight } = await ledger.view(teamId, ({ team, members }) => ({
    member: team?.status === 'active' ? members.get(memberId) : undefined,
    perNight: team?.restartsPerNight,
  }));
  if (!runsOn(hostId, member)) return undefined;
  const departure = { teamId, memberId, hostId, reason: `crashed: ${how}`.slice(0, 500) };
  if (member.status === 'shutting-down') {
    await recordDeparture(ledger, departure).catch(ignoreOver);
    return undefined;
  }
  const next = afterCrash(member.restarts ?? [], Date.now(), perNight);
  const returning = next.restartsIn !== undefined;
  const question = returning ? undefined : { content: askAfterCrash(memberId, how, next) };
  const held = await recordDeparture(ledger, { ...departure, returning, question }).catch(ignoreOver);
  if (!held) return undefined;
  await tellLeadOfCrash({ ledger, mailbox }, { teamId, memberId, how, held, returning });
  return { member, restartsIn: next.restartsIn };
}

/** The team was closed, or the member stopped, at the same moment. */
function ignoreOver(error: unknown): undefined {
  if (!(error instanceof TeamError) || !OVER.has(error.code)) throw error;
}

const OVER: ReadonlySet<ErrorCode> = new Set(['team_closed', 'member_stopped', 'not_found'] as const);

function askAfterCrash(memberId: string, how: string, { times, within }: { times: number; within: string }): string {
  return (
    `${memberId} keeps crashing: ${times} times within ${within}. The last crash: ${how}. It stays stopped. ` +
    'Fix the cause, then say yes to restart it.'
  );
}

/** One message per crash, with all its consequences. */
async function tellLeadOfCrash(
  { ledger, mailbox }: { ledger: Ledger; mailbox: Mailbox },
  crash: { teamId: string; memberId: string; how: string; held: readonly string[]; returning: boolean },
): Promise<void> {
  const { teamId, memberId, how, held, returning } = crash;
  const leadId = await ledger.view(teamId, (state) => state.team?.leadId);
  if (leadId === undefined || leadId === memberId) return;
  const next = returning ? 'It is started again.' : 'It crashed too often and is not restarted: a person must look.';
  const content = `${memberId} crashed (${how}).${givenBack(held)} ${next}`;
  await mailbox.send(teamId, SYSTEM, { toId: leadId, content, type: 'system', metadata: { memberId } });
}
