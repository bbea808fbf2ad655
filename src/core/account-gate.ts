import { shareOf } from './account.ts';
import type { Account } from './account.ts';

/** After a limit, members go on one after the other within this time, or a fifth of the limit if that was short. */
const SPREAD_MS = 60_000;
const SPREAD_SHARE = 0.2;

/**
 * Whether a turn may begin on an account:
 *
 * - `open`: yes. With `isTry`, the first answer of its model ends the limit.
 * - `try`: only for one member at a time, to find out whether the account can be used again.
 * - `closed`: not before `until`.
 */
export type AccountGate =
  | { readonly kind: 'open'; readonly isTry: boolean }
  | { readonly kind: 'try' }
  | { readonly kind: 'closed'; readonly until: number };

/** Whether a member, named by a `key` that no other one has, may begin a turn on an account now. */
export function accountGate(account: Account | undefined, key: string, now: number): AccountGate {
  const { limit, freed } = account ?? {};
  if (!limit) {
    const from = freed ? freed.at + spread(freed.waited, key) : now;
    return now < from ? { kind: 'closed', until: from } : { kind: 'open', isTry: false };
  }
  if (now < limit.until) return { kind: 'closed', until: opensAt(limit, key) };
  if (!limit.known) return { kind: 'try' };
  const from = opensAt(limit, key);
  return now < from ? { kind: 'closed', until: from } : { kind: 'open', isTry: true };
}

function opensAt({ known, since, until }: NonNullable<Account['limit']>, key: string): number {
  return known ? until + spread(until - since, key) : until;
}

/** How long this member waits after the end of a limit, so that not all begin at once. */
function spread(waited: number, key: string): number {
  return Math.round(Math.min(SPREAD_MS, waited * SPREAD_SHARE) * shareOf(key));
}
