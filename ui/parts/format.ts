import { useSyncExternalStore } from 'react';
import type { Budget } from '../../src/core/budget.ts';
import { daemonNow } from '../data/clock.ts';
import { zone } from '../data/zone.ts';
import { record } from '../record/head.ts';

/** A duration: `40s`, `6m`, `1 h 12 m`, `3 d`. */
export function showSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} m`;
  return `${Math.floor(hours / 24)} d`;
}

/*
 * A record is read days later, and its clock stands still: there, "19s ago" would be false. It has the times themselves.
 */

/** How old something is: `5m`; in a record, when it was. */
export function showAge(at: number, now: number): string {
  return record ? showTime(at) : showSpan(now - at);
}

/** When something was: `5m ago`; in a record, the time. */
export function showAgo(at: number, now: number): string {
  return record ? showTime(at) : `${showSpan(now - at)} ago`;
}

/** Since when something is so: `for 5m`; in a record, `since 14:09:38`. */
export function showSince(at: number, now: number): string {
  return record ? `since ${showTime(at)}` : `for ${showSpan(now - at)}`;
}

/** The formats of times, in the time zone that the person chose. */
function makeFormats(timeZone: string | undefined) {
  const shared = { hourCycle: 'h23', ...(timeZone !== undefined && { timeZone }) } as const;
  const clock = { hour: '2-digit', minute: '2-digit' } as const;
  return {
    clock: formatWith({ ...clock, ...shared }),
    seconds: formatWith({ ...clock, second: '2-digit', ...shared }),
    exact: formatWith({ dateStyle: 'medium', timeStyle: 'medium', ...shared }),
    day: formatWith({ month: 'short', day: 'numeric', ...(timeZone !== undefined && { timeZone }) }),
  };
}

/** A format of dates, made when it is first used: to make them all takes a tenth of the start of the page (measured). */
function formatWith(options: Intl.DateTimeFormatOptions): { format(at: number | Date): string } {
  let made: Intl.DateTimeFormat | undefined;
  return { format: (at) => (made ??= new Intl.DateTimeFormat(undefined, options)).format(at) };
}

const FORMATS = { local: makeFormats(undefined), utc: makeFormats('UTC') };
let numbers: Intl.NumberFormat | undefined;

/** 24,000. `toLocaleString` makes a format for each number, a tenth of what the page of a diff computes (measured). */
export function showNumber(count: number): string {
  if (Number.isInteger(count) && Math.abs(count) < 1_000) return String(count);
  return (numbers ??= new Intl.NumberFormat('en-US')).format(count);
}

/** The time of day. */
export function showClock(at: number | Date): string {
  return FORMATS[zone.get()].clock.format(at);
}

/** The time of day with its seconds. */
export function showSeconds(at: number | Date): string {
  return FORMATS[zone.get()].seconds.format(at);
}

const YEAR_MS = 365 * 24 * 3_600_000;

/** The time with seconds, and the day if that is not today. */
export function showTime(at: number): string {
  const clock = showSeconds(at);
  return showDay(at) === showDay(Date.now()) && Date.now() - at < YEAR_MS / 2 ? clock : `${showDay(at)}, ${clock}`;
}

/** Day and time, exactly. */
export function showMoment(at: number | Date): string {
  return FORMATS[zone.get()].exact.format(at);
}

/** The day without its year. */
export function showDay(at: number | Date): string {
  return FORMATS[zone.get()].day.format(at);
}

/** 820k, 4.4M. */
export function showCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_500) return `${trim(count / 1_000)}k`;
  if (count < 999_500_000) return `${trim(count / 1_000_000)}M`;
  return `${trim(count / 1_000_000_000)}G`;
}

function trim(value: number): string {
  return value < 10 ? value.toFixed(1).replace(/\.0$/, '') : value.toFixed(0);
}

/** US dollars. Less than a cent is not shown as 0; large amounts have no cents. Axes use the format of the largest. */
export function showCost(usd: number, largest = usd): string {
  if (usd > 0 && usd < 0.01) return '< $0.01';
  if (largest >= 99_999.5) return `$${showCount(Math.round(usd))}`;
  if (largest >= 9_999.995) return `$${Math.round(usd).toLocaleString('en-US')}`;
  return showExactCost(usd);
}

/** US dollars to the cent. */
export function showExactCost(usd: number): string {
  return `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** Usage, as far as it was reported. */
interface Used {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cacheReadTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  readonly costUsd?: number | undefined;
}

/** Shown in place of a figure that nobody reported: many agents report no cost, and programs report nothing. */
export const UNTOLD = '–';

/** The reported figures, tokens first: `1.2M tokens`, `$0.40`. */
export function usedParts(usage: Used | undefined, word = 'tokens'): string[] {
  const tokens = tokensOf(usage ?? {});
  const cost = usage?.costUsd ?? 0;
  return [tokens > 0 ? `${showCount(tokens)} ${word}`.trimEnd() : '', cost > 0 ? showCost(cost) : ''].filter(Boolean);
}

/** A number of tokens, or the mark for no figure. */
export function tokensOrUntold(tokens: number): string {
  return tokens > 0 ? showCount(tokens) : UNTOLD;
}

/** A cost, or the mark for no figure. */
export function costOrUntold(usd: number): string {
  return usd > 0 ? showCost(usd) : UNTOLD;
}

/** All tokens of a usage: input, output and cache. */
export function tokensOf(usage: Used): number {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

let now = daemonNow();
const listeners = new Set<() => void>();
setInterval(() => {
  now = daemonNow();
  for (const listener of listeners) listener();
}, 1_000);

/** The current time, updated once a second (or in larger steps), for all components at once. */
export function useNow(stepMs = 0): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => (stepMs === 0 ? now : now - (now % stepMs)),
  );
}

/** `1 task`, `3 tasks`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${showNumber(count)} ${count === 1 ? one : many}`;
}

/** The limits of a budget. */
export function showBudget({ tokens, costUsd, turns, minutes }: Budget): string {
  return [
    tokens !== undefined && `${showCount(tokens)} tokens`,
    costUsd !== undefined && showCost(costUsd),
    turns !== undefined && plural(turns, 'turn'),
    minutes !== undefined && showSpan(minutes * 60_000),
  ]
    .filter(Boolean)
    .join(', ');
}
