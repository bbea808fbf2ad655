import { median } from '../../../bench/rounds.ts';

/** How a series went from a moment on. */
export interface Trend {
  readonly first: number;
  /** The fitted line at that moment, and at the end. */
  readonly from: number;
  readonly to: number;
  readonly last: number;
  /** Growth in a day by the fitted line, as a share of `from`. */
  readonly perDay: number;
  /** The least growth in a day that the noise leaves room for, with 95 % confidence. */
  readonly leastPerDay: number;
}

export interface Point {
  /** Minutes. */
  readonly at: number;
  readonly value: number;
}

const MINUTES_PER_DAY = 24 * 60;

/**
 * Fits a line to a series from a moment on: the median of the slopes between all pairs of points (Theil and Sen), which a third
 * of wild points do not move. The interval of the slope follows from Kendall's test (Sen, 1968).
 */
export function fitTrend(points: readonly Point[], fromMinute: number): Trend {
  const rest = points.filter(({ at }) => at >= fromMinute);
  const slopes = rest
    .flatMap((a, i) => rest.slice(i + 1).map((b) => (b.value - a.value) / (b.at - a.at)))
    .sort((a, b) => a - b);
  const slope = median(slopes);
  const at0 = median(rest.map(({ at, value }) => value - slope * at));
  const n = rest.length;
  const spread = 1.96 * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  const least = slopes[Math.max(0, Math.floor((slopes.length - spread) / 2))] ?? Number.NaN;
  const end = points.at(-1)?.at ?? Number.NaN;
  const from = at0 + slope * fromMinute;
  return {
    first: points[0]?.value ?? Number.NaN,
    from,
    to: at0 + slope * end,
    last: points.at(-1)?.value ?? Number.NaN,
    perDay: (slope * MINUTES_PER_DAY) / from,
    leastPerDay: (least * MINUTES_PER_DAY) / from,
  };
}

/** The least of each so many minutes, at the middle of them. */
export function floorsOf(points: readonly Point[], minutes: number): Point[] {
  const floors = new Map<number, number>();
  for (const { at, value } of points) {
    const middle = (Math.floor(at / minutes) + 0.5) * minutes;
    floors.set(middle, Math.min(value, floors.get(middle) ?? Infinity));
  }
  return [...floors].map(([at, value]) => ({ at, value }));
}

/** What a series may do and still be called flat. */
export interface Bound {
  /** Growth in a day, as a share; more only if the noise leaves room for none. */
  readonly perDay: number;
  /** Growth that was seen from that moment to the end, as a share, noise or not: a short or noisy run must not pass by that. */
  readonly seen: number;
}

export function isFlat({ from, to, perDay, leastPerDay }: Trend, bound: Bound): boolean {
  if (from === 0 && to === 0) return true;
  return (perDay <= bound.perDay || leastPerDay <= 0) && to - from <= bound.seen * from;
}
