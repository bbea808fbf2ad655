import { isExpected } from './state.ts';
import type { MemberRecord, TeamState } from './state.ts';
import { pendingRequests } from './tables.ts';
import { OVER_BUDGET, waitingOf } from './waiting.ts';

/**
 * How far a team is with what its lead was told. `waiting`: only a person can let it go on. `stuck`: nobody does anything,
 * and the work is not done.
 */
export type InnerStanding = 'working' | 'waiting' | 'done' | 'stuck';

/** How far a team is. `isLeadDue`: its lead is about to hear of something. */
export function innerStanding(state: TeamState, isLeadDue: boolean): InnerStanding {
  const lead = state.members.get(state.team?.leadId ?? '');
  if (lead && isLeading(state, lead, isLeadDue)) return 'working';
  const tasks = [...state.tasks.values()].filter(({ status }) => status !== 'deleted');
  // Work that was handed in lands without its member.
  const isLanding = tasks.some(({ work }) => work?.state === 'submitted');
  const asked = pendingRequests(state).filter(({ kind }) => kind !== 'shutdown');
  // Its asker goes on with the answer, or without one at its deadline.
  const isAsked = asked.some(({ kind, memberId }) => kind === 'question' && isLive(state, memberId));
  if ([...state.members.values()].some(isBusy) || isLanding || isAsked) return 'working';
  const hasAnswered = lead?.status === 'idle' && lead.metadata?.['failure'] === undefined && knowsTeam(lead);
  if (hasAnswered && tasks.every(({ status }) => status === 'completed')) return 'done';
  return asked.length > 0 || (lead?.status === 'idle' && !knowsTeam(lead)) ? 'waiting' : 'stuck';
}

/** A lead that could not begin its first turn yet, for example because of its account, knows nothing of its team. */
function knowsTeam({ metadata }: MemberRecord): boolean {
  return typeof metadata?.['knows'] === 'number' || metadata?.['failure'] !== undefined;
}

/** Whether the lead is at work, or will be as soon as it hears the newest events. */
function isLeading(state: TeamState, lead: MemberRecord, isDue: boolean): boolean {
  if (lead.status !== 'idle') return lead.status === 'stopped' ? isExpected(lead) : true;
  // Mail wakes it. It takes the mail before it says that it is active.
  const waiting = [...(state.index.inboxes.get(lead.id)?.waiting ?? [])];
  const isTold = waiting.some((id) => {
    const deliveredAt = state.messages.get(id)?.deliveredAt;
    return deliveredAt === undefined || deliveredAt > lead.statusSince;
  });
  return isTold || isDue;
}

function isBusy(member: MemberRecord): boolean {
  if (member.agent === undefined || waitingOf(member) === OVER_BUDGET) return false;
  return member.status === 'stopped' ? member.returning === true : member.status !== 'idle';
}

function isLive({ members }: TeamState, memberId: string): boolean {
  const member = members.get(memberId);
  return member !== undefined && member.status !== 'stopped';
}
