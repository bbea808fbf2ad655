import { describeLimit } from './account-words.ts';
import { AccountCause } from './account.ts';
import type { Metadata } from './json.ts';

/**
 * What a member waits for besides tasks and answers, if recorded: an account that cannot be used, an overloaded model, a
 * machine to run on.
 */
export function waitingOf({ metadata }: { metadata?: Metadata | undefined }): string | undefined {
  const waiting = metadata?.['waiting'];
  if (typeof waiting !== 'object' || waiting === null || !('reason' in waiting)) return undefined;
  const { reason, account, since, until, known } = waiting as Readonly<Record<string, unknown>>;
  const cause = AccountCause.safeParse(reason).data;
  if (!cause || typeof account !== 'string' || typeof until !== 'number') return String(reason);
  return describeLimit(
    { cause, since: typeof since === 'number' ? since : until, until, known: known === true },
    account,
  );
}

/** What a member waits for whose budget is used up in the middle of its work. */
export const OVER_BUDGET = 'more budget';

/** Whether a member was lost with the only machine that may run it; it returns with that machine. */
export function isLost(member: {
  readonly status: string;
  readonly returning?: boolean | undefined;
  readonly host?: string | undefined;
  readonly metadata?: Metadata | undefined;
}): boolean {
  const { status, returning, host } = member;
  return status === 'stopped' && returning === true && host !== undefined && waitingOf(member) !== undefined;
}
