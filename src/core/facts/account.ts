import { ACCOUNTS_PER_TEAM, mergeWindows } from '../account.ts';
import type { Account } from '../account.ts';
import type { TeamState } from '../state.ts';
import { putAccount } from '../tables.ts';
import { withdrawRequests } from './apply.ts';
import type { ApplyTo } from './apply.ts';

export const ACCOUNT_FACTS: ApplyTo<'account'> = {
  'account:changed': (state, { at, account: id, windows = [], limit }) => {
    const before = state.accounts.get(id);
    if (!before && state.accounts.size >= ACCOUNTS_PER_TEAM) putAccount(state, oldest(state), undefined);
    const next = limit === undefined ? before?.limit : (limit ?? undefined);
    // Nobody needs to answer a question about a limit that is over.
    if (limit === null) {
      withdrawRequests(state, ({ kind, detail }) => kind === 'account' && detail?.['account'] === id);
    }
    const ended = limit === null ? before?.limit : undefined;
    const freed = ended ? { at, waited: Math.max(0, at - ended.since) } : before?.freed;
    putAccount(state, id, {
      id,
      at,
      windows: mergeWindows(before?.windows ?? [], windows),
      ...(next && { limit: next }),
      ...(freed && { freed }),
    });
  },
};

/** The account that nobody has spoken of for the longest time. */
function oldest({ accounts }: TeamState): string {
  let found: Account | undefined;
  for (const account of accounts.values()) if (!found || account.at < found.at) found = account;
  return found?.id ?? '';
}
