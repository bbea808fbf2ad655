import type { Batch } from '../../../src/client/replica.ts';
import { showClock, showDay, showSeconds } from '../../parts/format.ts';

export const BUCKETS = 110;

/** From when to when the line goes. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** From the first event to the present; of a team that has ended, to its last event. */
export function spanOf(history: readonly Batch[], now: number | undefined): Span {
  const start = history[0]?.events[0]?.at ?? 0;
  const last = history.at(-1)?.events.at(-1)?.at ?? start;
  return { start, end: Math.max(last, now ?? last) };
}

/** Where on the line a time is, from 0 to 1. */
export function placeIn({ start, end }: Span, time: number): number {
  return end === start ? 1 : Math.max(0, Math.min(1, (time - start) / (end - start)));
}

/** Events per bucket, as parts of the fullest; the root keeps a busy minute from hiding all others. */
export function countEvents(history: readonly Batch[], { start, end }: Span): number[] {
  const counts = Array.from({ length: BUCKETS }, () => 0);
  const scale = BUCKETS / Math.max(1, end - start);
  for (const { events } of history) {
    const at = events[0]?.at ?? start;
    const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.floor((at - start) * scale)));
    counts[bucket] = (counts[bucket] ?? 0) + events.length;
  }
  const most = Math.max(1, ...counts);
  return counts.map((count) => Math.sqrt(count / most));
}

/** A few times to read the line by; the last one stands well before the end, which has its own word. */
export function makeTicks({ start, end }: Span): { time: number; label: string }[] {
  if (start === end) return [];
  const isLong = end - start > 36 * 3_600_000;
  const isShort = end - start < 4 * 60_000;
  return [0, 0.25, 0.5, 0.75].map((part) => {
    const time = start + part * (end - start);
    return { time, label: (isLong ? showDay : isShort ? showSeconds : showClock)(time) };
  });
}

/** The last batch at a time. */
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
