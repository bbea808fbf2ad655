import { z } from 'zod';
import { jitter } from './back-off.ts';
import { Line, lineOf, Slug } from './fields.ts';
import { LINE_LENGTH } from './limits.ts';
import { AccountCause } from './trouble.ts';

/**
 * What turns are charged to: an agent and its login, as `claude` or `claude@second`. Members with one login share one
 * account. A login without a given name is one of its machine, so machines that share a journal add theirs:
 * `claude/box`. Never contains a secret.
 */
export const AccountId = lineOf(200).min(1);
export type AccountId = z.output<typeof AccountId>;

const Moment = z.number().int().min(0).max(8.64e15);

/** A period in which an account may use so much. */
export const AccountWindow = z.strictObject({
  /** The provider's name for it. */
  name: lineOf(100).min(1),
  /** The used share; 1 is all of it, and paid overage is more. */
  used: z.number().min(0).max(1_000),
  /** When it begins again, in milliseconds since 1970. */
  resetsAt: Moment.optional(),
});
export type AccountWindow = z.output<typeof AccountWindow>;

/** An account that cannot be used now. */
export const AccountLimit = z.strictObject({
  cause: AccountCause,
  /** In the words of its agent. */
  reason: Line,
  since: Moment,
  /** When it can be used again, or when that is tried. */
  until: Moment,
  /** The provider named the time, so all members go on then. Otherwise one of them tries first. */
  known: z.boolean(),
  /** How often it failed in a row. */
  tries: z.number().int().min(1).max(1_000_000),
});
export type AccountLimit = z.output<typeof AccountLimit>;

/** A limit that is over: when it was reached, when the account was used again, and how many members waited then. */
export const PastLimit = z.strictObject({
  cause: AccountCause,
  since: Moment,
  ended: Moment,
  waiting: z.number().int().min(0),
});
export type PastLimit = z.output<typeof PastLimit>;

/** How many past limits of an account a team keeps: more than a night has. */
export const PAST_LIMITS = 50;

/** What is known about an account. */
export const Account = z.strictObject({
  id: AccountId,
  /** When this was last changed. */
  at: Moment,
  windows: z.array(AccountWindow),
  limit: AccountLimit.optional(),
  /** When it was learned that there is this limit, or none any more. The newest of several teams counts. */
  limitAt: Moment.optional(),
  /** When the last limit ended, and how long it had lasted. */
  freed: z.strictObject({ at: Moment, waited: z.number().int().min(0) }).optional(),
  /** The last limits that are over, oldest first. */
  past: z.array(PastLimit).optional(),
});
export type Account = z.output<typeof Account>;

/** What a member's process learns about its account. */
export const ReportAccountInput = z.strictObject({
  memberId: Slug.describe('the member'),
  windows: z.array(AccountWindow).max(20).optional().describe('how far its windows are used up'),
  cause: AccountCause.optional().describe('why it cannot be used'),
  reason: Line.optional().describe('in the words of its agent'),
  resetsAt: Moment.optional().describe('when it can be used again, in milliseconds since 1970'),
  pauseMs: z
    .number()
    .int()
    .min(0)
    .max(86_400_000)
    .optional()
    .describe('how long to wait if nobody knows that time, in milliseconds'),
  knownAt: Moment.optional().describe(
    'the limitAt of account.enter for the turn that failed: a limit that ended since stays over',
  ),
  worksSince: Moment.optional().describe('when a turn began that its model answered, in milliseconds since 1970'),
});
export type ReportAccountInput = z.output<typeof ReportAccountInput>;

/** Facts about an account as another team has them, or a person's word that it can be used again. */
export const SetAccountInput = z.strictObject({
  account: AccountId.describe('the account, such as claude or claude@second'),
  windows: z.array(AccountWindow).max(20).optional(),
  limit: AccountLimit.nullable().optional(),
  /** When the other team learned of the limit. Newer knowledge stays. */
  asOf: Moment.optional(),
});
export type SetAccountInput = z.output<typeof SetAccountInput>;

/** The data of the event about accounts: what is left out has not changed, and a limit of null is over. */
export const ACCOUNT_EVENT_DATA = {
  'account:changed': z.object({
    account: z.string(),
    memberId: z.string().optional(),
    windows: z.array(AccountWindow).optional(),
    /** The names of the windows of which 80 % are used now, and were not before. */
    warns: z.array(z.string()).optional(),
    limit: AccountLimit.nullable().optional(),
    /** Taken over from another team, which learned of the limit then. */
    asOf: Moment.optional(),
  }),
} as const;

/** The most accounts that a team keeps; with more, it forgets the one that changed longest ago. */
export const ACCOUNTS_PER_TEAM = 100;

const MINUTE = 60_000;

/** How long to wait before the next try, if nobody knows when an account can be used again. Milliseconds. */
const PAUSES: Readonly<Record<AccountCause, { readonly first: readonly number[]; readonly later: number }>> = {
  // Agents retry several times themselves before they give up; these pauses come after that.
  overloaded: { first: [10_000, 30_000, 90_000, 3 * MINUTE, 10 * MINUTE], later: 30 * MINUTE },
  limited: { first: [MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE], later: 60 * MINUTE },
  unauthorised: { first: [MINUTE, 5 * MINUTE, 15 * MINUTE], later: 60 * MINUTE },
};

/** Periods of providers are no longer than a month. All members of an account would wait for a time that one of them made up. */
const LONGEST_LIMIT_MS = 32 * 24 * 60 * MINUTE;

/** The limit after a report of a turn that failed. A report about a limit that is known already changes nothing. */
export function limitAfter(
  before: AccountLimit | undefined,
  report: { cause: AccountCause; reason: string; at: number; key: string } & Pick<
    ReportAccountInput,
    'resetsAt' | 'pauseMs'
  >,
): AccountLimit {
  const { cause, at, resetsAt = 0, key } = report;
  const isNamed = cause === 'limited' && resetsAt > at && resetsAt <= at + LONGEST_LIMIT_MS;
  const named = isNamed ? resetsAt : undefined;
  const isOpen = before !== undefined && at < before.until;
  // Members that ran at the same time report the same; the latest reset that a provider names counts.
  if (isOpen && (named === undefined || (before.known && before.until >= named))) return before;
  const tries = (before?.tries ?? 0) + (isOpen ? 0 : 1);
  const { first, later } = PAUSES[cause];
  const pause = report.pauseMs ?? jitter(first[tries - 1] ?? later, shareOf(key));
  return {
    cause,
    reason: report.reason.slice(0, LINE_LENGTH),
    since: before?.since ?? at,
    until: named ?? Math.round(at + pause),
    known: named !== undefined,
    tries,
  };
}

/** A window is news if much more or less of it is used, or it ends at another time. */
const NEWS = 0.05;
const SAME_TIME_MS = MINUTE;

/** The share at which a warning appears. */
export const ACCOUNT_WARNING = 0.8;

/** The reported windows that say something new. A window that is not reported stays, and so does a missing time. */
export function newWindows(before: readonly AccountWindow[], told: readonly AccountWindow[]): AccountWindow[] {
  return told.flatMap(({ name, used, resetsAt: when }) => {
    const known = before.find((one) => one.name === name);
    const resetsAt = when ?? known?.resetsAt;
    const next = { name, used, ...(resetsAt !== undefined && { resetsAt }) };
    if (!known) return [next];
    const isCrossed = [ACCOUNT_WARNING, 1].some((share) => known.used < share !== used < share);
    const isMoved = Math.abs((resetsAt ?? 0) - (known.resetsAt ?? 0)) > SAME_TIME_MS;
    return isCrossed || isMoved || Math.abs(used - known.used) >= NEWS ? [next] : [];
  });
}

/** When it was learned that an account has a limit, or none any more; undefined if it never had one. */
export function limitTime(account: Account | undefined): number | undefined {
  // Records of earlier versions have no such time.
  return account?.limitAt ?? (account?.limit || account?.freed ? account.at : undefined);
}

/** Whether what another team knows about a limit counts. Of two at the same time, the end of a limit does. */
export function isNewer(
  other: { limit?: AccountLimit | null | undefined; at: number },
  known: number | undefined,
): boolean {
  return other.at > (known ?? -1) || (other.at === known && !other.limit);
}

/** What two teams know about an account: the newer windows, and the newer word about the limit. */
export function mergeAccounts(one: Account, other: Account): Account {
  const [older, newer] = one.at <= other.at ? [one, other] : [other, one];
  const isOther = isNewer({ limit: other.limit, at: limitTime(other) ?? -1 }, limitTime(one));
  const { limit, limitAt, freed, past } = isOther ? other : one;
  return {
    id: one.id,
    at: newer.at,
    windows: mergeWindows(older.windows, newer.windows),
    ...(limit && { limit }),
    ...(limitAt !== undefined && { limitAt }),
    ...(freed && { freed }),
    ...(past && { past }),
  };
}

/** The names of the windows that passed the warning with this report, but are not used up. */
export function warnedWindows(before: readonly AccountWindow[], told: readonly AccountWindow[]): string[] {
  return told.flatMap(({ name, used }) => {
    const was = before.find((one) => one.name === name)?.used ?? 0;
    return was < ACCOUNT_WARNING && used >= ACCOUNT_WARNING && used < 1 ? [name] : [];
  });
}

/** The windows with newer ones in their places. */
export function mergeWindows(before: readonly AccountWindow[], told: readonly AccountWindow[]): AccountWindow[] {
  const byName = new Map([...before, ...told].map((window) => [window.name, window]));
  return [...byName.values()];
}

/** A number from 0 to 1 that is always the same for a key, and differs between keys. */
export function shareOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  // The last bits of short keys differ most; mixing brings them to the front.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}
