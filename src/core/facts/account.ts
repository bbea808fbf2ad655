import { ACCOUNTS_PER_TEAM, limitTime, mergeWindows, PAST_LIMITS } from '../account.ts';
import type { Account, AccountLimit, PastLimit } from '../account.ts';
import type { TeamState } from '../state.ts';
import { putAccount } from '../tables.ts';
import { waitsForAccount } from '../waiting.ts';
import { withdrawRequests } from './apply.ts';
import type { ApplyTo } from './apply.ts';

export const ACCOUNT_FACTS: ApplyTo<'account'> = {
  'account:changed': (state, { at, account: id, windows = [], limit, asOf }) => {
    const before = state.accounts.get(id);
    if (!before && state.accounts.size >= ACCOUNTS_PER_TEAM) putAccount(state, oldestOf(state).id, undefined);
    const next = limit === undefined ? before?.limit : (limit ?? undefined);
    // Nobody needs to answer a question about a limit that is over.
    if (limit === null) {
      withdrawRequests(state, ({ kind, detail }) => kind === 'account' && detail?.['account'] === id);
    }
    const ended = limit === null ? before?.limit : undefined;
    const freed = ended ? { at, waited: Math.max(0, at - ended.since) } : before?.freed;
    const past = [...(before?.past ?? []), ...(ended ? [pastLimit(state, id, ended, at)] : [])].slice(-PAST_LIMITS);
    const known = limitTime(before);
    // Later than all that is known, also if the clock of another machine was ahead.
    const limitAt = limit === undefined ? known : (asOf ?? Math.max(at, (known ?? -1) + 1));
    putAccount(state, id, {
      id,
      at,
      windows: mergeWindows(before?.windows ?? [], windows),
      ...(next && { limit: next }),
      ...(limitAt !== undefined && { limitAt }),
      ...(freed && { freed }),
      ...(past.length > 0 && { past }),
    });
  },
};

/** Members say what they wait for, and go on only after this event. */
function pastLimit({ members }: TeamState, id: string, { cause, since }: AccountLimit, at: number): PastLimit {
  const waiting = [...members.values()].filter((member) => waitsForAccount(member) === id).length;
  return { cause, since, ended: Math.max(at, since), waiting };
}

/** The account that nobody has spoken of for the longest time. */
function oldestOf({ accounts }: TeamState): Account {
  return [...accounts.values()].reduce((oldest, one) => (one.at < oldest.at ? one : oldest));
}
