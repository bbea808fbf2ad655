import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Copy } from './copy.ts';
import { emptyPlan } from './cover.ts';
import type { Coverage } from './cover.ts';
import { runTests } from './run-tests.ts';
import type { RunOptions } from './run-tests.ts';

/** What became of a mutant: which test killed it, or that its process hung or died. */
export type Fate = 'test' | 'hang' | 'load' | 'survived' | 'not covered';

/** Tests that take longer are not repeated with mutants: few mutants would take all the time. */
export const SLOW_MS = 4_000;
/** How long the tests that try one mutant may take together without it: tests of workspaces, which run git, take minutes. */
export const MUTANT_MS = 15_000;
/** How many test files try a mutant that runs when its module is loaded, one after the other in a new process. */
export const WHOLE_FILES = 10;
/** How long they may take together without a mutant. */
export const WHOLE_MS = 8_000;

export interface LaneOptions extends RunOptions {
  readonly coverage: Coverage;
  /** The longest test that is repeated. */
  readonly slowMs: number;
  readonly onFate: (mutant: number, fate: Fate) => void;
}

/** Tries mutants, one after the other, in one process after the other. */
export async function tryMutants(copy: Copy, mutants: readonly number[], options: LaneOptions): Promise<void> {
  const { coverage, slowMs, onFate, signal } = options;
  /** By mutant: the tests that have not tried it yet. */
  const left = new Map<number, Set<string>>();
  for (const id of mutants) {
    const tests = choose(coverage.testsOf.get(id) ?? [], copy.mutants[id]?.file, slowMs);
    if (tests.length > 0) left.set(id, new Set(tests));
  }
  const fileOf = new Map(coverage.tests.map(({ test, file }) => [test, file]));
  const killed = new Set<number>();
  const decide = (id: number, fate: Fate): void => {
    left.delete(id);
    killed.add(id);
    onFate(id, fate);
  };
  const alone = new Set<number>();
  while (left.size > 0 && !signal.aborted) {
    const together = [...left.keys()].filter((id) => !alone.has(id));
    const batch = together.length > 0 ? together : [...left.keys()].slice(0, 1);
    const run = await runTests(planSwitching(copy, { batch, left, coverage }), options);
    for (const line of run.lines) {
      if (line.kind === 'killed') decide(line.mutant, line.isTimeout ? 'hang' : 'test');
      else if (line.kind === 'survived') left.get(line.mutant)?.delete(line.test);
      else if (line.kind === 'unusable') for (const tests of left.values()) tests.delete(line.test);
      else if (line.kind === 'spoiled') alone.add(line.mutant);
    }
    if (run.unfinished !== undefined) decide(run.unfinished, 'hang');
    if (run.lines.length === 0) throw new Error(`No test ran:\n${run.output}`);
    // What a file that has ended left undone it cannot do: a test was skipped, or what comes before the tests failed.
    const ended = new Set(run.lines.flatMap((line) => (line.kind === 'ended' ? [line.file] : [])));
    for (const id of batch) {
      const tests = left.get(id);
      for (const test of tests ?? []) if (ended.has(fileOf.get(test) ?? '')) tests?.delete(test);
      if (tests?.size === 0) left.delete(id);
    }
  }
  for (const id of mutants) {
    if (killed.has(id) || signal.aborted) continue;
    const files = wholeFiles(id, copy, coverage);
    const isKilled = files.length > 0 && (await isKilledAtLoad(copy, { id, files, options }));
    if (signal.aborted) return;
    onFate(id, isKilled ? 'load' : coverage.testsOf.has(id) || coverage.filesOf.has(id) ? 'survived' : 'not covered');
  }
}

/** The tests that try a mutant: first those that are fast, and about its file more than about others. */
function choose(tests: Coverage['tests'], file: string | undefined, slowMs: number): string[] {
  const ranked = tests
    .filter(({ ms }) => ms <= slowMs)
    .map((test) => ({ ...test, rank: (test.ms * test.reached.length) / (test.perFile.get(file ?? '') ?? 1) }))
    .toSorted((a, b) => a.rank - b.rank);
  return within(ranked, MUTANT_MS).map(({ test }) => test);
}

/** As many as fit into a time together, the first ones first. One that no longer fits leaves its place to shorter ones. */
function within<T extends { readonly ms: number }>(all: readonly T[], mostMs: number): T[] {
  let left = mostMs;
  return all.filter(({ ms }) => {
    if (ms > left) return false;
    left -= ms;
    return true;
  });
}

interface Switching {
  readonly batch: readonly number[];
  readonly left: ReadonlyMap<number, ReadonlySet<string>>;
  readonly coverage: Coverage;
}

/** The tests that may kill one of these mutants; files with fast tests first, so that few mutants are left for the slow ones. */
function planSwitching(copy: Copy, { batch, left, coverage }: Switching): ReturnType<typeof emptyPlan> {
  const used = coverage.tests.flatMap(({ test, file, ms }) => {
    const mutants = batch.filter((id) => left.get(id)?.has(test));
    return mutants.length === 0 ? [] : [{ test, file, ms, mutants }];
  });
  const slowest = new Map<string, number>();
  for (const { file, ms } of used) slowest.set(file, (slowest.get(file) ?? 0) + ms);
  const files = [...slowest].sort(([, a], [, b]) => a - b).map(([file]) => file);
  const tests = Object.fromEntries(used.map(({ test, ms, mutants }) => [test, { ms, mutants }]));
  return { ...emptyPlan(copy, { mode: 'switch', files }), tests, most: coverage.most };
}

/**
 * The test files that try a mutant from the start: first those that import its source file, then those that reach most
 * of it. All tests run in one process, so only the first file of those that need a module is seen to load it.
 */
function wholeFiles(id: number, { folder, mutants }: Copy, coverage: Coverage): string[] {
  const outside = coverage.filesOf.get(id);
  const source = mutants[id]?.file;
  if (!outside || source === undefined) return [];
  const files = new Map<string, { ms: number; same: number }>();
  for (const { file, ms, perFile } of coverage.tests) {
    const before = files.get(file) ?? { ms: 0, same: 0 };
    files.set(file, { ms: before.ms + ms, same: before.same + (perFile.get(source) ?? 0) });
  }
  const ranked = [...files]
    .map(([file, found]) => {
      const isImporting = readFileSync(join(folder, file), 'utf8').includes(`${source}'`);
      return { ...found, file, isImporting };
    })
    .filter(({ file, same, isImporting }) => isImporting || same > 0 || outside.has(file))
    .toSorted((a, b) => Number(b.isImporting) - Number(a.isImporting) || b.same - a.same);
  return within(ranked, WHOLE_MS)
    .slice(0, WHOLE_FILES)
    .map(({ file }) => file);
}

interface Whole {
  readonly id: number;
  readonly files: string[];
  readonly options: LaneOptions;
}

async function isKilledAtLoad(copy: Copy, { id, files, options }: Whole): Promise<boolean> {
  const switchFile = join(copy.folder, 'switch.json');
  writeFileSync(switchFile, JSON.stringify({ on: id }));
  const { seed, signal } = options;
  const run = await runTests(emptyPlan(copy, { mode: 'whole', files }), {
    seed,
    signal,
    limitMs: 30_000 + 8 * WHOLE_MS,
  });
  writeFileSync(switchFile, '{"on":-1}');
  return !run.isPassed;
}
