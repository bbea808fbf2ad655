import type { Scale } from './benchmark.ts';

/** Does one part of a round and returns its figure. Preparing and checking are not timed. */
export type Part = () => Promise<number> | number;

/** The figures of all rounds. */
export interface Rounds<K extends string> {
  readonly limit: readonly number[];
  readonly parts: Readonly<Record<K, readonly number[]>>;
  /** Each part's figure divided by the mean of the limits just before and just after it. */
  readonly ratios: Readonly<Record<K, readonly number[]>>;
}

/**
 * Runs limit, part, limit, part ... limit, round after round, so that other load on the machine affects all of them
 * alike. A warm-up round comes first. There is no garbage collection in between: it would discard compiled code and
 * cost the next part a fifth of its speed.
 */
export async function interleave<K extends string>(
  { rounds }: Scale,
  limit: Part,
  parts: Readonly<Record<K, Part>>,
): Promise<Rounds<K>> {
  const names = Object.keys(parts) as K[];
  const empty = () => Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<K, number[]>;
  const found = { limit: [] as number[], parts: empty(), ratios: empty() };
  for (let round = 0; round <= rounds; round++) {
    const counts = round > 0;
    let before = await limit();
    if (counts) found.limit.push(before);
    for (const name of names) {
      const value = await parts[name]();
      const after = await limit();
      if (counts) {
        found.limit.push(after);
        found.parts[name].push(value);
        found.ratios[name].push((2 * value) / (before + after));
      }
      before = after;
    }
  }
  return found;
}

/** The median, which a few disturbed rounds do not change. */
export function median(figures: readonly number[]): number {
  return quantile(figures, 0.5);
}

/** The figure below which a share of all figures lies. */
export function quantile(figures: readonly number[], share: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** The milliseconds that the work took. */
export async function time(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Calls `once` for each number below `count`, `inFlight` of them at any moment. */
export async function keepInFlight(inFlight: number, count: number, once: (i: number) => Promise<unknown>) {
  let next = 0;
  const lane = async () => {
    while (next < count) await once(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}
