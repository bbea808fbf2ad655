import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { Copy } from './copy.ts';
import type { Logged, Plan } from './plan.ts';
import { runTests } from './run-tests.ts';
import type { RunOptions } from './run-tests.ts';

interface Covered extends Extract<Logged, { kind: 'covered' }> {
  /** How many mutants of each source file it reaches. */
  readonly perFile: ReadonlyMap<string, number>;
}

/** Which tests reach which mutants. */
export interface Coverage {
  readonly tests: readonly Covered[];
  /** By mutant: the tests that reach it, the fastest first. */
  readonly testsOf: ReadonlyMap<number, readonly Covered[]>;
  /** By mutant: test files that reach it outside of tests, as what runs when a module is loaded. */
  readonly filesOf: ReadonlyMap<number, ReadonlySet<string>>;
  /** By mutant: how often a test reaches it at most. */
  readonly most: Readonly<Record<string, number>>;
  /** Tests that fail without any mutant, which kill none. */
  readonly failed: readonly string[];
}

/** Runs all tests once, without a mutant. */
export async function coverMutants(copy: Copy, patterns: readonly string[], options: RunOptions): Promise<Coverage> {
  const files = globSync([...patterns], { cwd: copy.folder }).toSorted();
  const { lines, output } = await runTests(emptyPlan(copy, { mode: 'cover', files }), options);
  const all = lines
    .filter((line) => line.kind === 'covered')
    .map((line) => ({ ...line, perFile: perFile(copy, line.reached) }));
  if (all.length === 0) throw new Error(`No test ran:\n${output}`);
  const tests = all.filter(({ isPassed }) => isPassed).toSorted((a, b) => a.ms - b.ms);
  const testsOf = new Map<number, Covered[]>();
  const filesOf = new Map<number, Set<string>>();
  const most: Record<string, number> = {};
  for (const test of tests) {
    for (const [id, times] of test.reached) {
      testsOf.set(id, [...(testsOf.get(id) ?? []), test]);
      most[id] = Math.max(most[id] ?? 0, times);
    }
  }
  for (const line of lines) {
    if (line.kind !== 'covered' && line.kind !== 'ended') continue;
    const outside = line.kind === 'covered' ? line.outside : line.reached;
    for (const id of outside) filesOf.set(id, (filesOf.get(id) ?? new Set()).add(line.file));
  }
  const failed = all.filter(({ isPassed }) => !isPassed).map(({ file, name }) => `${file} > ${name}`);
  return { tests, testsOf, filesOf, most, failed };
}

function perFile({ mutants }: Copy, reached: readonly (readonly [number, number])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [id] of reached) {
    const { file = '' } = mutants[id] ?? {};
    counts.set(file, (counts.get(file) ?? 0) + 1);
  }
  return counts;
}

export function emptyPlan({ folder, mutants }: Copy, { mode, files }: Pick<Plan, 'mode' | 'files'>): Plan {
  return { mode, files, copy: folder, log: join(folder, 'log'), size: mutants.length, tests: {}, most: {} };
}
