import { z } from 'zod';

/** What the runner inside vitest does, told in a file. */
export const Plan = z.object({
  /**
   * `cover`: each test once; which mutants it reaches.
   * `switch`: each test again and again, with one of its mutants on.
   * `whole`: the files once, with one mutant on from the start, as code that runs when a module is loaded needs it.
   */
  mode: z.enum(['cover', 'switch', 'whole']),
  /** The copy of the project that has the instrumented sources. */
  copy: z.string(),
  /** Test files, relative to the copy, in the order in which they run. */
  files: z.array(z.string()),
  /** Where the runner writes what it did: a line of JSON for each event. */
  log: z.string(),
  /** How many mutants there are. */
  size: z.number(),
  /** By test: how long it took, and which mutants it is repeated with. */
  tests: z.record(z.string(), z.object({ ms: z.number(), mutants: z.array(z.number()) })),
  /** By mutant: how often a test reaches it at most. */
  most: z.record(z.string(), z.number()),
});
export type Plan = z.output<typeof Plan>;

/** Where the plan is. */
export const PLAN_VARIABLE = 'TROUPE_MUTATION_PLAN';

/** A line of the log. */
export type Logged =
  /** Of `cover`: what a test reached, and what was reached outside of tests since the last one. */
  | {
      kind: 'covered';
      test: string;
      file: string;
      name: string;
      ms: number;
      isPassed: boolean;
      reached: [number, number][];
      outside: number[];
    }
  /** A file has ended; what was reached after its last test. */
  | { kind: 'ended'; file: string; reached: number[] }
  /** A test begins with a mutant; after `limitMs` it has ended, unless its process stands still. */
  | { kind: 'tried'; mutant: number; test: string; limitMs: number }
  | { kind: 'survived'; mutant: number; test: string }
  | { kind: 'killed'; mutant: number; test: string; isTimeout: boolean }
  /** A test fails without a mutant: at its beginning, or after a mutant, which then is tried again in a new process. */
  | { kind: 'unusable'; test: string }
  | { kind: 'spoiled'; mutant: number; test: string };
