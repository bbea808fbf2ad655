import { describeLimit, showTime } from './account-words.ts';
import type { Metadata } from './json.ts';
import { AccountCause } from './trouble.ts';

/**
 * What a member waits for besides tasks and answers, if recorded: an account that cannot be used, an overloaded model, the
 * end of its quiet hours, a machine to run on.
 */
export function waitingOf({ metadata }: { metadata?: Metadata | undefined }): string | undefined {
  const { reason, account, since, until, known } = waitIn(metadata);
  if (typeof reason !== 'string') return undefined;
  if (reason === QUIET_HOURS && typeof until === 'number') return `${QUIET_HOURS} until ${showTime(until, until)}`;
  const cause = AccountCause.safeParse(reason).data;
  if (!cause || typeof account !== 'string' || typeof until !== 'number') return reason;
  return describeLimit(
    { cause, since: typeof since === 'number' ? since : until, until, known: known === true },
    account,
  );
}

/** Since when nothing was heard of a turn or of the member's process, if that is too long: milliseconds since 1970. */
export function silentSince({ metadata }: { metadata?: Metadata | undefined }): number | undefined {
  const since = waitIn(metadata)['silentSince'];
  return typeof since === 'number' ? since : undefined;
}

/** What is recorded about a wait; nothing if there is none. */
function waitIn(metadata: Metadata | undefined): Readonly<Record<string, unknown>> {
  return Object(metadata?.['waiting']) as Readonly<Record<string, unknown>>;
}

/** What is known of a member whose process stands still, in place of what it waits for. */
export const STANDS_STILL = 'its process gives no sign of life';

/** How the reason begins: a silence is nothing that a member waits for. */
export function waitsOrSilent(member: { metadata?: Metadata | undefined }): 'waits' | 'silent' {
  return silentSince(member) === undefined ? 'waits' : 'silent';
}

/** The account that a member waits for. */
export function waitsForAccount({ metadata }: { metadata?: Metadata | undefined }): string | undefined {
  const { account } = waitIn(metadata);
  return typeof account === 'string' ? account : undefined;
}

/** What a member waits for whose budget is used up in the middle of its work. */
export const OVER_BUDGET = 'more budget';

/** What a member waits for that begins no turn now. */
export const QUIET_HOURS = 'quiet hours';

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
