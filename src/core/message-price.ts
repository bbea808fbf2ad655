import { MESSAGES_PER_MINUTE } from './limits.ts';
import type { MemberRecord, TeamState } from './state.ts';

export const MINUTE_MS = 60_000;

/** What a message costs, and what may be owed: after a quiet time a third of a minute's messages go at once. */
export function pricesOf({ team }: TeamState): { price: number; burst: number } {
  const price = MINUTE_MS / (team?.messagesPerMinute ?? MESSAGES_PER_MINUTE);
  return { price, burst: Math.max(MINUTE_MS / 3, price) };
}

/** When all that the member sent will be paid for, after one more message. */
export function paidAfterSending(state: TeamState, member: MemberRecord, at: number): number {
  const { price, burst } = pricesOf(state);
  const owed = member.sendsPaidAt ?? at;
  // A clock that was set back leaves no debt.
  return (owed > at && owed <= at + burst ? owed : at) + price;
}
