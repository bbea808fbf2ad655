import { MESSAGES_PER_MINUTE, PEER_MESSAGES_PER_HOUR } from './limits.ts';
import type { MemberRecord, TeamState } from './state.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

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
  return (owed <= at + burst ? Math.max(owed, at) : at) + price;
}

/** How long another team has to wait before its next message; the largest debt is an hour. */
export function peerWait({ team }: TeamState, teamId: string, at: number): number {
  const wait = (team?.peersPaidAt?.[teamId] ?? at) + PEER_PRICE - HOUR_MS - at;
  // As with members: a clock that was set back silences nobody.
  return wait <= 0 || wait > PEER_PRICE ? 0 : wait;
}

/** When the debt of another team will be paid off, after one more message. */
export function peerPaidAfterSending({ team }: TeamState, teamId: string, at: number): number {
  const owed = team?.peersPaidAt?.[teamId] ?? at;
  return (owed <= at + HOUR_MS ? Math.max(owed, at) : at) + PEER_PRICE;
}

const PEER_PRICE = HOUR_MS / PEER_MESSAGES_PER_HOUR;
