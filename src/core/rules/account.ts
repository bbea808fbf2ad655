import { isNewer, limitAfter, limitTime, newWindows, warnedWindows } from '../account.ts';
import type { AccountLimit, AccountWindow } from '../account.ts';
import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import type { TeamState } from '../state.ts';
import { requireLive, requireOpenTeam, requirePerson, requireSelf } from './guard.ts';
import type { RulesOf } from './rule.ts';

/** A member reports what its provider said about its account. */
function reportAccount(state: TeamState, command: CommandOf<'account.report'>): TeamEvent[] {
  requireOpenTeam(state);
  const { at, by, memberId, cause, reason = '', resetsAt, pauseMs, knownAt = Infinity, worksSince } = command;
  requireSelf(by, memberId, 'speak about the account of');
  const { account } = requireLive(state, memberId);
  if (account === undefined) {
    throw new TeamError('conflict', `Member ${memberId} has no account: name it first, with member.update`);
  }
  const before = state.accounts.get(account);
  const windows = newWindows(before?.windows ?? [], command.windows ?? []);
  const key = `${state.teamId}/${memberId}`;
  // The turn began before the limit ended. Whether there is one again, the next turn finds out.
  const isPast = !before?.limit && (limitTime(before) ?? 0) > knownAt;
  const limit = cause && !isPast ? limitAfter(before?.limit, { cause, reason, at, resetsAt, pauseMs, key }) : undefined;
  // No turn began later than now, whatever the member says: its word ends the limit for all others, too.
  const isOver = !cause && before?.limit !== undefined && Math.min(worksSince ?? -1, at) >= before.limit.until;
  const isChanged = limit !== undefined && limit !== before?.limit;
  if (windows.length === 0 && !isChanged && !isOver) return [];
  return [
    event(command, 'account:changed', {
      account,
      memberId,
      ...told(before?.windows ?? [], windows),
      ...(isChanged && { limit }),
      ...(isOver && { limit: null }),
    }),
  ];
}

/** Takes over what another team knows, or ends a limit because a person says so. */
function setAccount(state: TeamState, command: CommandOf<'account.set'>): TeamEvent[] {
  requireOpenTeam(state);
  requirePerson(command.by, 'change an account');
  const { account, limit, asOf } = command;
  const before = state.accounts.get(account);
  const windows = newWindows(before?.windows ?? [], command.windows ?? []);
  // A copy may arrive after newer news.
  const isNews = asOf === undefined || isNewer({ limit, at: asOf }, limitTime(before));
  const isChanged = limit !== undefined && isNews && !isSame(before?.limit, limit);
  if (windows.length === 0 && !isChanged) return [];
  return [
    event(command, 'account:changed', {
      account,
      ...told(before?.windows ?? [], windows),
      ...(isChanged && { limit }),
      ...(asOf !== undefined && { asOf }),
    }),
  ];
}

/** What the event says about windows, if anything. */
function told(before: readonly AccountWindow[], windows: AccountWindow[]) {
  const warns = warnedWindows(before, windows);
  return { ...(windows.length > 0 && { windows }), ...(warns.length > 0 && { warns }) };
}

function isSame(a: AccountLimit | undefined, b: AccountLimit | null): boolean {
  if (!a || !b) return !a && !b;
  return a.cause === b.cause && a.until === b.until && a.tries === b.tries;
}

/** The rules about accounts. */
export const ACCOUNT_RULES: RulesOf<'account'> = { 'account.report': reportAccount, 'account.set': setAccount };
