/** One benchmark: a value exported by `bench/<name>.ts` and listed in `bench/all.ts`. */
export interface Benchmark {
  readonly name: string;
  readonly unit: string;
  /** What is done, and what it must reach beside which limit, in a line. */
  readonly about: string;
  readonly target: string;
  /** Measures. Throws when something was lost, doubled or torn: then no figure counts. */
  run(scale: Scale): Promise<Measured>;
}

/** How much of it to do. */
export interface Scale {
  /** Rounds that count; at least 5 for a figure that is to be believed. */
  readonly rounds: number;
  /** Takes the share of a full size that this run does. */
  size(full: number): number;
}

/** What a run found out. */
export interface Measured {
  readonly value: number;
  /** What bounds the value, measured in the same rounds. */
  readonly limit: string;
  readonly limitValue: number;
  /** The median of the rounds' own ratios of value to limit. */
  readonly ratio: number;
  readonly peers: readonly Peer[];
  readonly targets: readonly Target[];
  /** Whatever else is worth knowing, under names of its own. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Another way of doing the same, measured in the same rounds. */
export interface Peer {
  readonly name: string;
  readonly value: number;
  /** Our value over the peer's. */
  readonly ratio: number;
}

/** A bound that a figure must keep. */
export type Target = { readonly what: string; readonly value: number } & (
  | { readonly atLeast: number }
  | { readonly atMost: number }
);

/** A run as `--json` prints it; `error` stands in place of figures that do not count. */
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

/** Full size, and enough rounds for the medians to stand on a machine that others use too. */
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

/** Four digits that count: more would be noise. */
export function round(value: number): number {
  return Number(value.toPrecision(4));
}

function isMet(target: Target): boolean {
  return 'atLeast' in target ? target.value >= target.atLeast : target.value <= target.atMost;
}
