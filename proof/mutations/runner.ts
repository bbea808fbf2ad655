// The test runner that vitest loads: it repeats each test with one mutant after the other in the same process.
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { TestRunner } from 'vitest';
import type { RunnerTask, RunnerTestCase, RunnerTestFile, TestTryOptions } from 'vitest';
import { Plan, PLAN_VARIABLE } from './plan.ts';
import type { Logged } from './plan.ts';

interface Switch {
  set(next: { on: number; most?: number | undefined }): void;
  count(counts: Uint32Array): void;
}

const plan = Plan.parse(JSON.parse(readFileSync(process.env[PLAN_VARIABLE] ?? '', 'utf8')));
const NONE = -1;
const switchFile = join(plan.copy, 'switch.json');
const seenByOthers = join(plan.copy, 'seen');
// Tests replace the clock.
const { setTimeout, clearTimeout } = globalThis;

function log(line: Logged): void {
  appendFileSync(plan.log, `${JSON.stringify(line)}\n`);
}

/** What is on here, and in processes that start from now on. */
function turn(isOn: Switch, on: number): void {
  const most = on === NONE ? undefined : 1_000 + 50 * (plan.most[on] ?? 1);
  isOn.set({ on, most });
  writeFileSync(switchFile, JSON.stringify({ on, most }));
}

/** A test that takes many times as long as without a mutant hangs. */
function limitOf(ms: number): number {
  return 5_000 + 10 * ms;
}

/** What vitest calls the runner's default export. */
// oxlint-disable-next-line import/no-default-export -- vitest asks for it
export default class MutationRunner extends TestRunner {
  readonly #isOn: Switch;
  readonly #counts = new Uint32Array(plan.size);
  readonly #dead = new Set<number>();
  #mutants: number[] = [];
  readonly #tried = new Set<number>();
  #startedAt = 0;
  #outside: number[] = [];
  #isTimeout = false;

  constructor(config: ConstructorParameters<typeof TestRunner>[0]) {
    super(config);
    const load = join(plan.copy, 'switch.cjs');
    this.#isOn = createRequire(load)(load) as Switch;
    Object.assign(globalThis, { mutantSwitch: this.#isOn });
    if (plan.mode === 'cover') this.#isOn.count(this.#counts);
  }

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test);
    if (plan.mode !== 'switch' || test.type !== 'test' || test.mode !== 'run') return;
    this.#mutants = (plan.tests[test.id]?.mutants ?? []).filter((id) => !this.#dead.has(id));
    if (this.#mutants.length === 0) {
      test.mode = 'skip';
      return;
    }
    // The first run is without a mutant. A test that failed runs once more without the mutant, to see that the mutant was the reason.
    test.repeats = this.#mutants.length;
    test.retry = 1;
  }

  override onBeforeTryTask(test: RunnerTask, options: TestTryOptions): void {
    super.onBeforeTryTask(test, options);
    this.#startedAt = performance.now();
    if (plan.mode === 'cover') this.#startCovering(test);
    if (plan.mode !== 'switch') return;
    if (test.result) Object.assign(test.result, { errors: undefined, attempts: [] });
    const mutant = options.retry === 0 ? this.#mutants[(options.repeats ?? 0) - 1] : undefined;
    if (options.repeats !== 0 && this.#mutants.length === 0) throw new Error('This test is of no use here');
    turn(this.#isOn, mutant ?? NONE);
    if (mutant === undefined) return;
    this.#isTimeout = false;
    this.#tried.add(mutant);
    log({ kind: 'tried', mutant, test: test.id, limitMs: limitOf(plan.tests[test.id]?.ms ?? 0) });
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const ms = plan.tests[test.id]?.ms;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      if (ms === undefined || plan.mode === 'cover') return;
      timer = setTimeout(() => {
        this.#isTimeout = true;
        reject(new Error(`The test takes longer than ${limitOf(ms)} ms`));
      }, limitOf(ms));
    });
    try {
      await Promise.race([TestRunner.getTestFn(test)(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options);
    if (plan.mode === 'cover') this.#endCovering(test);
    if (plan.mode !== 'switch') return;
    turn(this.#isOn, NONE);
    const isFailed = test.result?.state === 'fail';
    const mutant = this.#mutants[(options.repeats ?? 0) - 1];
    if (mutant === undefined) {
      if (!isFailed || options.retry === 0 || this.#mutants.length === 0) return;
      log({ kind: 'unusable', test: test.id });
      this.#mutants = [];
    } else if (options.retry === 0) {
      if (!isFailed) log({ kind: 'survived', mutant, test: test.id });
    } else if (isFailed && this.#tried.size > 1) {
      log({ kind: 'spoiled', mutant, test: test.id });
      // What is left of this process no test can use.
      process.kill(process.pid, 'SIGKILL');
    } else {
      log({ kind: 'killed', mutant, test: test.id, isTimeout: this.#isTimeout });
      this.#dead.add(mutant);
      if (isFailed) process.kill(process.pid, 'SIGKILL');
    }
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void {
    super.onAfterRunFiles(files);
    for (const { filepath } of files) {
      log({ kind: 'ended', file: relative(plan.copy, filepath), reached: this.#takeCounts().map(([id]) => id) });
    }
  }

  #startCovering(test: RunnerTask): void {
    this.#outside = this.#takeCounts().map(([id]) => id);
    writeFileSync(switchFile, JSON.stringify({ on: NONE, seen: `${seenByOthers}-${test.id}` }));
  }

  #endCovering(test: RunnerTestCase): void {
    const { id, file, name, result } = test;
    const reached = new Map(this.#takeCounts());
    const others = `${seenByOthers}-${id}`;
    if (existsSync(others)) {
      const ids = readFileSync(others, 'utf8').trim().split('\n').map(Number);
      for (const one of ids) reached.set(one, reached.get(one) ?? 1);
      rmSync(others);
    }
    writeFileSync(switchFile, JSON.stringify({ on: NONE }));
    const ms = Math.ceil(performance.now() - this.#startedAt);
    const where = { test: id, file: relative(plan.copy, file.filepath), name };
    log({
      kind: 'covered',
      ...where,
      ms,
      isPassed: result?.state === 'pass',
      reached: [...reached],
      outside: this.#outside,
    });
  }

  #takeCounts(): [number, number][] {
    const taken = [...this.#counts.entries()].filter(([, count]) => count > 0);
    this.#counts.fill(0);
    return taken;
  }
}
