import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Facts } from '../test/proof.ts';
import { coverageArguments, readCoverage } from './coverage.ts';
import { nameOf } from './figure.ts';
import type { Part } from './figure.ts';
import type { MutationScore } from './mutations/score.ts';
import { ROOT } from './results.ts';
import type { PartResult } from './results.ts';

export interface PartRun extends PartResult {
  /** What the tests printed; shown if they fail. */
  readonly output: string;
}

/** Under what name the result of a part is kept: two figures that need the same part share it. */
export function keyOf(part: Part, size: Size): string {
  return `${nameOf(part)} (${size})`;
}

/** Of vitest's report. */
interface Counts {
  readonly numPassedTests: number;
  readonly numPendingTests: number;
}

export type Size = 'full' | 'quick';

/**
 * Runs the tests of a part in a process of its own. The seed is drawn here, so that it can be named. Nothing if a signal
 * ended it: then nothing was measured.
 */
export async function runPart(part: Part, size: Size): Promise<PartRun | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-proof-'));
  const factsFile = join(folder, 'facts');
  const seed = Number(process.env['TROUPE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const countsFile = join(folder, 'counts');
  const reports = ['--reporter=default', '--reporter=json', `--outputFile.json=${countsFile}`];
  const env = {
    ...process.env,
    NO_COLOR: '1',
    TROUPE_SEED: String(seed),
    TROUPE_PROOF_FACTS: factsFile,
    // Repetition reaches no branch that a test of its own would not reach better.
    TROUPE_PROOF: size === 'full' && 'test' in part ? (process.env['TROUPE_PROOF'] ?? '1') : '',
  };
  const coverageFolder = join(folder, 'coverage');
  const scoreFile = join(folder, 'score');
  const vitest = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...reports];
  const program =
    'test' in part
      ? [...vitest, `test/${part.test}.test.ts`]
      : 'covers' in part
        ? [...vitest, ...coverageArguments(part.covers, coverageFolder)]
        : [MUTATIONS, part.mutates, `--score=${scoreFile}`, ...(size === 'quick' ? ['--quick'] : [])];
  const from = performance.now();
  const child = spawn(process.execPath, program, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.once('SIGTERM', forward);
  const [code] = (await once(child, 'close')) as [number | null];
  process.off('SIGTERM', forward);
  const facts = existsSync(factsFile) ? readFileSync(factsFile, 'utf8').trim().split('\n').filter(Boolean) : [];
  const counts = existsSync(countsFile) ? (JSON.parse(readFileSync(countsFile, 'utf8')) as Counts) : undefined;
  const coverage = code === 0 && 'covers' in part ? readCoverage(coverageFolder, part.covers) : undefined;
  const score = existsSync(scoreFile) ? (JSON.parse(readFileSync(scoreFile, 'utf8')) as MutationScore) : undefined;
  rmSync(folder, { recursive: true });
  if (code === null || code === STOPPED) return undefined;
  return {
    passed: code === 0,
    seconds: Math.round((performance.now() - from) / 1000),
    seed,
    facts: [
      ...facts.map((line) => JSON.parse(line) as Facts),
      ...(coverage ? [coverage.facts] : []),
      ...(score ? [factsOf(score)] : []),
      { tests: counts?.numPassedTests ?? 0, skipped: counts?.numPendingTests ?? 0 },
    ],
    ...(coverage && { uncovered: coverage.uncovered }),
    ...(score && { mutations: score }),
    output: Buffer.concat(chunks).toString(),
  };
}

const MUTATIONS = join(ROOT, 'proof/mutations/main.ts');

/** The exit code of a program that a signal asked to stop. */
const STOPPED = 130;

function factsOf({ mutants, sample, killed }: MutationScore): Facts {
  return { mutants, tried: sample, killed, shares: [killed / sample] };
}
