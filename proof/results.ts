import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { MutationScore } from './mutations/score.ts';

export const ROOT = dirname(import.meta.dirname);
const RESULTS = join(ROOT, 'proof/results.json');
const UNFINISHED = join(ROOT, 'proof/unfinished.json');

const FactsSchema = z.record(z.string(), z.union([z.number(), z.array(z.number()).readonly()]));

/** A part that was run to its end. */
const PartResult = z.object({
  passed: z.boolean(),
  seconds: z.number(),
  seed: z.number(),
  facts: z.array(FactsSchema),
  /** The branches that no test reached, as `file:line`. */
  uncovered: z.array(z.string()).readonly().optional(),
  /** What became of the mutants of a room. */
  mutations: MutationScore.optional(),
});
export type PartResult = z.output<typeof PartResult>;

const FigureResult = z.object({
  name: z.string(),
  measured: z.string(),
  met: z.boolean(),
  date: z.string(),
  commit: z.string(),
  machine: z.string(),
  /** By part: how long it took, the seed that repeats it, and what no test reached or noticed. */
  parts: z.record(z.string(), PartResult.pick({ seconds: true, seed: true, uncovered: true, mutations: true })),
});
export type FigureResult = z.output<typeof FigureResult>;

/** The parts that a run has finished so far, so that it can be stopped and continued. */
const Unfinished = z.object({ commit: z.string(), parts: z.record(z.string(), PartResult) });
export type Unfinished = z.output<typeof Unfinished>;

/** The figures at full size, in the repository: each with the commit and machine that it was measured on. */
export function readResults(): FigureResult[] {
  return read(RESULTS, z.array(FigureResult)) ?? [];
}

export function keepResult(result: FigureResult): void {
  write(RESULTS, [...readResults().filter(({ name }) => name !== result.name), result]);
}

/** What another commit had finished does not count. */
export function readUnfinished(commit: string): Unfinished {
  const kept = read(UNFINISHED, Unfinished);
  return kept?.commit === commit ? kept : { commit, parts: {} };
}

export function keepUnfinished(unfinished: Unfinished): void {
  write(UNFINISHED, unfinished);
}

/** The commit that is measured; a tree with changes is not that commit. */
export function findCommit(): string {
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();
  try {
    const own = git('status', '--porcelain', '--', '.', ':!proof/results.json', ':!docs/proof.md');
    return `${git('rev-parse', '--short=10', 'HEAD')}${own === '' ? '' : ' with changes'}`;
  } catch {
    return 'unknown';
  }
}

/** The machine in one line: a figure without it says little. */
export function describeMachine(): string {
  const [cpu] = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  const system = `${type()} ${release()}`;
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${gigabytes} GB, ${system}, Node ${process.version}`;
}

function read<S extends z.ZodType>(path: string, schema: S): z.output<S> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${path} cannot be read; remove it to start again`, { cause: error });
  }
}

function write(path: string, value: unknown): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(value, undefined, 2)}\n`);
  renameSync(`${path}.new`, path);
}
