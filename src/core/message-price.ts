import { MESSAGES_PER_MINUTE } from './limits.ts';
import type { MemberRecord, TeamState } from './state.ts';

export const MINUTE_MS = 60_000;

/** The price of a message in time, and the largest debt: a third of a minute, so that bursts are possible. */
export function pricesOf({ team }: TeamState): { price: number; burst: number } {
  const price = MINUTE_MS / (team?.messagesPerMinute ?? MESSAGES_PER_MINUTE);
  return { price, burst: Math.max(MINUTE_MS / 3, price) };
}

/** When the member's debt will be paid off, after one more message. */
export function paidAfterSending(state: TeamState, member: MemberRecord, at: number): number {
  const { price, burst } = pricesOf(state);
  const owed = member.sendsPaidAt ?? at;
  // A clock that was set back leaves no debt.
  return (owed > at && owed <= at + burst ? owed : at) + price;
}
