import type { Sample } from './measure.ts';
import { fitTrend, isFlat } from './trend.ts';
import type { Bound, Trend } from './trend.ts';

/** What the daemon holds. A leak of 10 % a day doubles it in a week; a daemon that runs for months must have less. */
const HELD: Bound = { perDay: 0.1, seen: 0.05 };

/** Memory that V8 and malloc keep for later, and counts that go up and down with the load: noise is larger, a leak is not. */
const KEPT: Bound = { perDay: 0.1, seen: 0.1 };

/** Latency on a machine that does other things: even as a ratio it moves. What becomes slower with time shows in the fitted line. */
const TIME: Bound = { perDay: 0.1, seen: 0.25 };

/** What has to be flat. Depots, journal and log are measured beside it: they grow by right until they are pruned or rotated. */
export const SERIES: readonly { readonly name: keyof Sample; readonly bound: Bound }[] = [
  { name: 'heapMb', bound: HELD },
  { name: 'rssMb', bound: KEPT },
  { name: 'privateMb', bound: KEPT },
  { name: 'memberMb', bound: KEPT },
  { name: 'descriptors', bound: KEPT },
  { name: 'timers', bound: KEPT },
  { name: 'handles', bound: KEPT },
  { name: 'processes', bound: KEPT },
  { name: 'files', bound: KEPT },
  { name: 'fileKb', bound: KEPT },
  { name: 'claim50', bound: TIME },
  { name: 'claim99', bound: TIME },
  { name: 'message50', bound: TIME },
  { name: 'message99', bound: TIME },
];

export interface Judged extends Trend {
  readonly name: keyof Sample;
  readonly flat: boolean;
}

/** Judges every series from a minute on. */
export function judgeSeries(samples: readonly Sample[], fromMinute: number): Judged[] {
  return SERIES.map(({ name, bound }) => {
    const trend = fitTrend(
      samples.map((sample) => ({ at: sample.at, value: sample[name] })),
      fromMinute,
    );
    return { name, ...trend, flat: isFlat(trend, bound) };
  });
}
