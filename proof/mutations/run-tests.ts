import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findMarked, kill, MARK } from '../../test/setup/leaks.ts';
import { PLAN_VARIABLE } from './plan.ts';
import type { Logged, Plan } from './plan.ts';

const HERE = import.meta.dirname;
const VITEST = join(HERE, '../../node_modules/vitest/vitest.mjs');

/** How long the process may take for what it does beside the test: to start, and to run hooks. */
const SPARE_MS = 30_000;

export interface TestRun {
  readonly lines: readonly Logged[];
  /** Whether vitest ended by itself, and all tests passed. */
  readonly isPassed: boolean;
  /** The mutant with which the process stood still, or died. */
  readonly unfinished?: number;
  readonly isStill: boolean;
  readonly output: string;
}

export interface RunOptions {
  readonly seed: number;
  /** How long the whole run may take; without it, each test has its own limit. */
  readonly limitMs?: number;
  readonly signal: AbortSignal;
}

/** Runs the tests of a plan in a process of their own, which is ended if it stands still. */
export async function runTests(plan: Plan, { seed, limitMs, signal }: RunOptions): Promise<TestRun> {
  const planFile = join(plan.copy, 'plan.json');
  const outputFile = join(plan.copy, 'output');
  const mark = `${process.pid}-${plan.copy}`;
  writeFileSync(planFile, JSON.stringify(plan));
  rmSync(plan.log, { force: true });
  const output = openSync(outputFile, 'w');
  const child = spawn(process.execPath, [VITEST, 'run', '--config', join(HERE, 'vitest.config.ts')], {
    cwd: plan.copy,
    env: {
      ...process.env,
      NO_COLOR: '1',
      TROUPE_PROOF: '',
      TROUPE_SEED: String(seed),
      TROUPE_TEST_HANG_MS: '8000',
      TMPDIR: join(plan.copy, 'tmp'),
      [MARK]: mark,
      [PLAN_VARIABLE]: planFile,
    },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = once(child, 'close');
  const end = (): void => killAll(mark);
  signal.addEventListener('abort', end);
  let isEnded = false;
  const ending = ended.then(() => (isEnded = true));
  const isStill = await watch(plan, { limitMs, isEnded: () => isEnded, ending });
  if (isStill) end();
  const [code] = (await ended) as [number | null];
  signal.removeEventListener('abort', end);
  end();
  const lines = readLog(plan.log);
  const last = lines.at(-1);
  return {
    lines,
    isPassed: code === 0,
    isStill,
    output: readFileSync(outputFile, 'utf8'),
    ...(last?.kind === 'tried' && { unfinished: last.mutant }),
  };
}

/** Waits for the end of a run. True if nothing happens for longer than the test in progress may take. */
async function watch(
  { log, mode }: Plan,
  { limitMs, isEnded, ending }: { limitMs: number | undefined; isEnded: () => boolean; ending: Promise<unknown> },
): Promise<boolean> {
  const from = performance.now();
  let size = 0;
  let changedAt = from;
  while (!isEnded()) {
    await Promise.race([ending, sleep(500)]);
    const now = performance.now();
    if (limitMs !== undefined && now - from > limitMs) return true;
    if (mode !== 'switch') continue;
    const lines = readLog(log);
    if (lines.length !== size) [size, changedAt] = [lines.length, now];
    const last = lines.at(-1);
    if (last?.kind === 'tried' && now - changedAt > SPARE_MS + 2 * last.limitMs) return true;
  }
  return false;
}

function readLog(path: string): Logged[] {
  if (!existsSync(path)) return [];
  const whole = readFileSync(path, 'utf8');
  const text = whole.slice(0, whole.lastIndexOf('\n') + 1);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Logged);
}

/** Ends the run and all that its tests have started. */
function killAll(mark: string): void {
  for (let tries = 0; tries < 5; tries++) {
    const left = findMarked(mark);
    if (left.length === 0) return;
    for (const { pid } of left) kill(pid);
  }
}
