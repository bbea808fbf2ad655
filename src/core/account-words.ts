import type { AccountLimit, AccountWindow } from './account.ts';

/** Why an account cannot be used and until when, in the reader's time zone: "limited until 03:10 (claude)". */
export function describeLimit(
  limit: Pick<AccountLimit, 'cause' | 'since' | 'until' | 'known'>,
  account: string,
): string {
  return `${wordLimit(limit)} (${account})`;
}

/** The same without the account. */
export function wordLimit({
  cause,
  since,
  until,
  known,
}: Pick<AccountLimit, 'cause' | 'since' | 'until' | 'known'>): string {
  if (cause === 'unauthorised') return 'not logged in';
  const when = showTime(until, since);
  return known ? `${cause} until ${when}` : `${cause}, next try at ${when}`;
}

/** How far a window is used up: "five_hour 85 %". */
export function describeWindow({ name, used }: AccountWindow): string {
  return `${name} ${Math.round(used * 100)} %`;
}

const DAY_MS = 24 * 3_600_000;

/** A time of day, with the date if it is not within a day of another time. */
export function showTime(at: number, from: number): string {
  const time = new Date(at);
  const clock = `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
  if (at - from < DAY_MS) return clock;
  return `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())} ${clock}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
