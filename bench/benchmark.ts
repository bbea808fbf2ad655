/** One benchmark: a value exported by `bench/<name>.ts` and listed in `bench/all.ts`. */
export interface Benchmark {
  readonly name: string;
  readonly unit: string;
  /** One line: what it does, the target, and the limit to compare with. */
  readonly about: string;
  readonly target: string;
  /** Measures. Throws if something was lost, duplicated or torn: then no figure counts. */
  run(scale: Scale): Promise<Measured>;
}

/** How much a run does. */
export interface Scale {
  /** Rounds that count; a reliable figure needs at least 5. */
  readonly rounds: number;
  /** The part of a full size that this run does. */
  size(full: number): number;
}

/** The figures of a run. */
export interface Measured {
  readonly value: number;
  /** What bounds the value, measured in the same rounds. */
  readonly limit: string;
  readonly limitValue: number;
  /** The median of the rounds' own ratios of value to limit. */
  readonly ratio: number;
  readonly peers: readonly Peer[];
  readonly targets: readonly Target[];
  /** Further figures, by name. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Another way to do the same, measured in the same rounds. */
export interface Peer {
  readonly name: string;
  readonly value: number;
  /** Our value over the peer's. */
  readonly ratio: number;
}

/** A bound for a figure. */
export type Target = { readonly what: string; readonly value: number } & (
  | { readonly atLeast: number }
  | { readonly atMost: number }
);

/** A run as `--json` prints it. `error` replaces figures that do not count. */
export interface Result {
  readonly name: string;
  readonly unit: string;
  readonly value: number | null;
  readonly limit: string | null;
  readonly limitValue: number | null;
  readonly ratio: number | null;
  readonly peers: readonly Peer[];
  readonly ok: boolean;
  readonly targets: readonly (Target & { readonly ok: boolean })[];
  readonly rounds: number;
  readonly error?: string;
  readonly [more: string]: unknown;
}

/** Full size, with enough rounds for stable medians on a machine that others use too. */
export const FULL: Scale = { rounds: 9, size: (full) => full };

/** Just enough to see that a benchmark works. */
export const QUICK: Scale = { rounds: 1, size: (full) => Math.ceil(full / 50) };

/** Runs a benchmark and judges it. */
export async function runBenchmark(benchmark: Benchmark, scale: Scale): Promise<Result> {
  const { name, unit } = benchmark;
  try {
    const { more, targets, ...measured } = await benchmark.run(scale);
    const judged = targets.map((target) => ({ ...target, value: round(target.value), ok: isMet(target) }));
    return {
      name,
      unit,
      value: round(measured.value),
      limit: measured.limit,
      limitValue: round(measured.limitValue),
      ratio: round(measured.ratio),
      peers: measured.peers.map((peer) => ({ name: peer.name, value: round(peer.value), ratio: round(peer.ratio) })),
      ok: judged.every((target) => target.ok),
      targets: judged,
      rounds: scale.rounds,
      ...more,
    };
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const nothing = { value: null, limit: null, limitValue: null, ratio: null, peers: [], targets: [] };
    return { name, unit, ...nothing, ok: false, rounds: scale.rounds, error: message };
  }
}

/** Four significant digits: more would be noise. */
export function round(value: number): number {
  return Number(value.toPrecision(4));
}

function isMet(target: Target): boolean {
  return 'atLeast' in target ? target.value >= target.atLeast : target.value <= target.atMost;
}
