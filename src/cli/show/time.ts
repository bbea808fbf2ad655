import type { Screen } from './screen.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time for people ("3 min ago"); unchanged for files and programs, which keep it. */
export function showTime(iso: string | undefined, screen: Screen): string {
  if (iso === undefined) return '';
  if (!screen.isTerminal) return iso;
  const ago = screen.now - Date.parse(iso);
  if (Number.isNaN(ago)) return iso;
  // The clocks of two processes differ a little, so a small difference is not "in 1 s".
  if (Math.abs(ago) < 2 * SECOND) return 'just now';
  return ago > 0 ? `${showDuration(ago)} ago` : `in ${showRemaining(-ago)}`;
}

/** A moment for a text that is kept and read later, elsewhere: `2026-01-31 12:00:00 UTC`. */
export function showMoment(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** A duration in one unit, rounded down. */
export function showDuration(ms: number): string {
  return inOneUnit(ms, Math.floor);
}

/** The time until something happens, in one unit. Rounded to the nearest: 24 hours less a second are 24 h. */
export function showRemaining(ms: number): string {
  return inOneUnit(ms, Math.round);
}

function inOneUnit(ms: number, round: (value: number) => number): string {
  if (round(ms / SECOND) < 60) return `${round(ms / SECOND)} s`;
  if (round(ms / MINUTE) < 60) return `${round(ms / MINUTE)} min`;
  if (round(ms / HOUR) < 48) return `${round(ms / HOUR)} h`;
  return `${round(ms / DAY)} days`;
}
