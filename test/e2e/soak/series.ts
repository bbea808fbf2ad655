import type { Sample } from './measure.ts';
import { fitTrend, floorsOf, isFlat } from './trend.ts';
import type { Bound, Trend } from './trend.ts';

/** Memory after a garbage collection. A leak of 10 % a day doubles it in a week, and daemons run for months. */
const HELD: Bound = { perDay: 0.1, seen: 0.05 };

/** Memory as the system sees it has compiled code, too, and what V8 and malloc keep for later. */
const KEPT: Bound = { perDay: 0.5, seen: 0.1 };

/**
 * V8 optimizes a function once it ran a few thousand times, which for some takes hours: 81 functions in 20 minutes of the second
 * hour (two heap snapshots). There are only so many functions, so no rate is judged, only what was seen.
 */
const COMPILED: Bound = { perDay: Infinity, seen: 0.1 };

/** Counts go up and down with the load, and what was leaked never goes down: each five minutes have their least. */
const COUNTED: Bound = { perDay: 0.1, seen: 0.1 };

/** Other load on the machine only adds to a latency, even to its ratio: again the least of five minutes. */
const TIME: Bound = { perDay: 0.1, seen: 0.25 };

interface Series {
  readonly name: keyof Sample;
  readonly bound: Bound;
  /** Of each so many minutes only the least counts. */
  readonly leastOf?: number;
}

/** What has to be flat. Depots, journal, log and transcripts are measured beside it: they grow by right until they are pruned or rotated. */
export const SERIES: readonly Series[] = [
  { name: 'heapMb', bound: HELD },
  { name: 'codeMb', bound: COMPILED },
  { name: 'rssMb', bound: KEPT },
  { name: 'privateMb', bound: KEPT },
  { name: 'memberMb', bound: KEPT },
  ...(['descriptors', 'timers', 'handles', 'processes', 'files', 'fileKb'] as const).map((name) => ({
    name,
    bound: COUNTED,
    leastOf: 5,
  })),
  ...(['claim50', 'claim99', 'message50', 'message99'] as const).map((name) => ({ name, bound: TIME, leastOf: 5 })),
];

export interface Judged extends Trend {
  readonly name: keyof Sample;
  readonly flat: boolean;
}

/** Judges every series from a minute on. */
export function judgeSeries(samples: readonly Sample[], fromMinute: number): Judged[] {
  return SERIES.map(({ name, bound, leastOf }) => {
    const all = samples.map((sample) => ({ at: sample.at, value: sample[name] }));
    const points = leastOf === undefined ? all : floorsOf(all, leastOf);
    const trend = {
      ...fitTrend(points, fromMinute),
      first: all[0]?.value ?? Number.NaN,
      last: all.at(-1)?.value ?? Number.NaN,
    };
    return { name, ...trend, flat: isFlat(trend, bound) };
  });
}
