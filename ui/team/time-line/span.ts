import type { Batch } from '../../../src/client/replica.ts';
import { showClock, showDay, showSeconds } from '../../parts/format.ts';

export const BUCKETS = 110;

/** The start and end of the time line. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** From the first event to now; for a closed team, to its last event. */
export function spanOf(start: number, history: readonly Batch[], now: number | undefined): Span {
  const last = history.at(-1)?.events.at(-1)?.at ?? start;
  return { start, end: Math.max(last, now ?? last) };
}

/** The place of a time on the line, from 0 to 1. */
export function placeIn({ start, end }: Span, time: number): number {
  return end === start ? 1 : Math.max(0, Math.min(1, (time - start) / (end - start)));
}

/** Events per bucket, relative to the fullest. The square root keeps a busy minute from hiding all others. */
export function countEvents(history: readonly Batch[], { start, end }: Span): number[] {
  const counts = Array.from({ length: BUCKETS }, () => 0);
  const scale = BUCKETS / Math.max(1, end - start);
  for (let i = indexFrom(history, start); i < history.length; i++) {
    const events = history[i]?.events ?? [];
    const at = events[0]?.at ?? start;
    if (at > end) break;
    const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.floor((at - start) * scale)));
    counts[bucket] = (counts[bucket] ?? 0) + events.length;
  }
  const most = Math.max(1, ...counts);
  return counts.map((count) => Math.sqrt(count / most));
}

/** A few labelled times; the last is well before the end, which has its own label. */
export function makeTicks({ start, end }: Span): { time: number; label: string }[] {
  if (start === end) return [];
  const isLong = end - start > 36 * 3_600_000;
  const isShort = end - start < 4 * 60_000;
  return [0, 0.25, 0.5, 0.75].map((part) => {
    const time = start + part * (end - start);
    return { time, label: (isLong ? showDay : isShort ? showSeconds : showClock)(time) };
  });
}

/** The index of the first batch from a time on. */
function indexFrom(history: readonly Batch[], time: number): number {
  return (history[0]?.events[0]?.at ?? 0) >= time ? 0 : seqAt(history, time - 1);
}

/** The number of the last batch up to a time. */
export function seqAt(history: readonly Batch[], time: number): number {
  let low = 0;
  let high = history.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((history[middle]?.events[0]?.at ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return Math.max(1, low);
}
