import type { Facts } from '../test/proof.ts';
import type { CoveredRoom } from './rooms.ts';

/** One figure of the proof: what it says, its goal, and the tests that measure it. */
export interface Figure {
  readonly name: string;
  /** What is counted or measured. */
  readonly what: string;
  readonly goal: string;
  /** The test files that measure it, and how long each takes at full size on two cores. */
  readonly parts: readonly Part[];
  /** What the facts of all parts say. It is only asked when every part has passed. */
  readonly judge: (facts: Sums) => Verdict;
}

/** A test file that tells facts, tests that are run for the branches that they reach, or a room whose mutants are tried. */
export type Part = TestPart | CoveragePart | MutationPart;

export interface TestPart {
  /** A test file, relative to `test/` and without its ending. */
  readonly test: string;
  readonly minutes: number;
}

export interface CoveragePart {
  /** The rooms whose branches are counted, with the tests that must reach them. */
  readonly covers: readonly CoveredRoom[];
  readonly minutes: number;
}

export interface MutationPart {
  /** A room of `proof/mutations/rooms.ts`. */
  readonly mutates: string;
  readonly minutes: number;
}

/** The name of a part: two figures that need the same one share its result. */
export function nameOf(part: Part): string {
  if ('mutates' in part) return `mutations of ${part.mutates}`;
  return 'test' in part ? part.test : `branches of ${part.covers.map(({ name }) => name).join(', ')}`;
}

export interface Verdict {
  readonly measured: string;
  readonly met: boolean;
}

/** The facts of all parts of a figure: numbers added up, lists joined. */
export class Sums {
  readonly #counts = new Map<string, number>();
  readonly #samples = new Map<string, number[]>();

  constructor(all: readonly Facts[]) {
    for (const [name, value] of all.flatMap((facts) => Object.entries(facts))) {
      if (typeof value === 'number') this.#counts.set(name, this.count(name) + value);
      else this.#samples.set(name, [...this.samples(name), ...value]);
    }
  }

  count(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  samples(name: string): readonly number[] {
    return this.#samples.get(name) ?? [];
  }

  /** The value that 99 of 100 samples do not exceed; without a sample it is infinite, so that no goal is met by silence. */
  p99(name: string): number {
    const sorted = this.samples(name).toSorted((a, b) => a - b);
    return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Infinity;
  }

  most(name: string): number {
    return Math.max(...this.samples(name), ...(this.samples(name).length === 0 ? [Infinity] : []));
  }
}
