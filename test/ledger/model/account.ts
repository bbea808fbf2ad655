import type { AccountLimit, AccountWindow } from '../../../src/core/account.ts';
import type { Attempt, Rules } from './guard.ts';
import { needLive, needOpenTeam, needPerson, refused } from './guard.ts';
import { isExpected } from './world.ts';
import type { Member, Request, World } from './world.ts';

export const ACCOUNT_RULES: Rules<'account'> = {
  'account.report'(world, command, attempt) {
    needOpenTeam(world, attempt);
    const {
      at,
      by,
      memberId,
      windows = [],
      cause,
      reason = '',
      resetsAt = 0,
      pauseMs = 0,
      worksSince = -1,
      knownAt,
    } = command;
    if (by !== memberId && by !== '@system') attempt.codes.push('not_allowed');
    const member = needLive(world, memberId, attempt);
    if (member && member.account === undefined) attempt.codes.push('conflict');
    if (refused(attempt) || member?.account === undefined) return;
    const known = world.accounts.find(({ id }) => id === member.account);
    const old = known?.limit;
    let limit: AccountLimit | null | undefined;
    const isNamed = cause === 'limited' && resetsAt > at && resetsAt <= at + 32 * 86_400_000;
    const isRunning = old !== undefined && at < old.until;
    const isPast = knownAt !== undefined && !old && (known?.limitAt ?? 0) > knownAt;
    if (cause && !isPast && (!isRunning || (isNamed && (!old.known || old.until < resetsAt)))) {
      const tries = old ? old.tries + (isRunning ? 0 : 1) : 1;
      const until = isNamed ? resetsAt : at + pauseMs;
      limit = { cause, reason, since: old?.since ?? at, until, known: isNamed, tries };
    } else if (!cause && old && worksSince >= old.until && at >= old.until) limit = null;
    if (note(world, { id: member.account, at, windows, limit })) attempt.facts.push(`account:changed ${memberId}`);
  },

  'account.set'(world, { at, by, account: id, windows = [], limit, asOf }, attempt) {
    needOpenTeam(world, attempt);
    needPerson(by, attempt);
    if (refused(attempt)) return;
    const known = world.accounts.find((one) => one.id === id);
    const old = known?.limit;
    const since = known?.limitAt ?? -1;
    const isLate = asOf !== undefined && (asOf < since || (asOf === since && limit !== null));
    const isSame = limit
      ? old?.cause === limit.cause && old.until === limit.until && old.tries === limit.tries
      : limit === null && old === undefined;
    const news = isSame || isLate ? undefined : limit;
    if (note(world, { id, at, windows, limit: news, asOf })) attempt.facts.push('account:changed');
  },
};

/** Writes down what is new; says whether anything is. */
function note(
  world: World,
  told: {
    id: string;
    at: number;
    windows: readonly AccountWindow[];
    limit: AccountLimit | null | undefined;
    asOf?: number | undefined;
  },
): boolean {
  const { id, at, limit, asOf } = told;
  const known = world.accounts.find((one) => one.id === id);
  const windows = told.windows
    .map((window) => ({ ...known?.windows.find(({ name }) => name === window.name), ...window }))
    .filter((window) => {
      const old = known?.windows.find(({ name }) => name === window.name);
      if (!old) return true;
      const isCrossed = old.used >= 0.8 !== window.used >= 0.8 || old.used >= 1 !== window.used >= 1;
      const moved = Math.abs((window.resetsAt ?? 0) - (old.resetsAt ?? 0));
      return isCrossed || moved > 60_000 || Math.abs(window.used - old.used) >= 0.05;
    });
  if (windows.length === 0 && limit === undefined) return false;
  const account = known ?? { id, at, windows: [] };
  if (!known) world.accounts.push(account);
  account.at = at;
  if (limit !== undefined) account.limitAt = asOf ?? Math.max(at, (account.limitAt ?? -1) + 1);
  for (const window of windows) {
    const place = account.windows.findIndex(({ name }) => name === window.name);
    account.windows.splice(place < 0 ? account.windows.length : place, place < 0 ? 0 : 1, window);
  }
  if (limit === null && account.limit) {
    const { cause, since } = account.limit;
    account.freed = { at, waited: at - since };
    const waiting = world.members.filter(({ metadata }) => {
      const waits = metadata?.['waiting'] as { account?: unknown } | null | undefined;
      return waits?.account === id;
    });
    account.past = [...(account.past ?? []), { cause, since, ended: at, waiting: waiting.length }].slice(-50);
  }
  if (limit === null) {
    delete account.limit;
    for (const request of questionsAbout(world, id)) request.status = 'withdrawn';
  }
  if (limit) account.limit = limit;
  return true;
}

function questionsAbout(world: World, account: unknown) {
  return world.requests.filter(
    ({ kind, status, detail }) => kind === 'account' && status === 'pending' && detail?.['account'] === account,
  );
}

/** Whether Troupe asks a person about the account already. */
export function isAskedAbout(world: World, account: unknown): boolean {
  return questionsAbout(world, account).length > 0;
}

/** The members that a person stops, because the limit of their account is reached and they ask what to do then. */
export function stoppedBy({ team, members }: World, { choice, detail }: Request): Member[] {
  if (choice !== 'stop') return [];
  return members.filter((member) => {
    const { policy } = member.onLimit ?? team?.onLimit ?? { policy: 'wait' };
    return member.account === detail?.['account'] && isExpected(member) && policy === 'ask';
  });
}

/** A person said that the account can be used again. */
export function useAgain(
  world: World,
  { at }: { at: number },
  { detail }: Pick<Request, 'detail'>,
  attempt: Attempt,
): void {
  const id = String(detail?.['account']);
  if (!world.accounts.find((one) => one.id === id)?.limit) return;
  note(world, { id, at, windows: [], limit: null });
  attempt.facts.push('account:changed');
}
