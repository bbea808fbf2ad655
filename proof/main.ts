// Measures what Troupe survives: each figure at full size, with real processes. What it measured is kept in
// proof/results.json and shown in docs/proof.md.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildIfStale } from '../scripts/stale.ts';
import { nameOf, Sums } from './figure.ts';
import type { Figure } from './figure.ts';
import { FIGURES } from './figures.ts';
import { renderPage } from './page.ts';
import {
  describeMachine,
  findCommit,
  keepResult,
  keepUnfinished,
  readResults,
  readUnfinished,
  ROOT,
} from './results.ts';
import type { FigureResult, PartResult } from './results.ts';
import { keyOf, runPart } from './run-part.ts';
import type { Size } from './run-part.ts';

const HELP = `What Troupe survives, measured: kills, races, damage, hostile requests.

Usage: npm run proof                  every figure at full size; writes proof/results.json and docs/proof.md
       npm run proof -- NAME...       some figures
       npm run proof -- test/FILE...  test files alone, repeated as often as a proof needs

Options:
  --list    the figures, their goals, and how long each takes
  --quick   as often as npm test does it: shows that a figure can be measured; nothing is written
  --again   measure again what was measured on this commit
  --json    one JSON object for each figure on stdout
  --help    this help

Ctrl-C stops it. The next run on the same commit continues after the last part that ended.
TROUPE_SEED=N repeats what a part drew at random.
node proof/mutations/main.ts tries mutants of one room or file.

Exit code: 0 all goals met, 1 a goal missed or a test failed, 2 wrong usage.
`;

async function main(args: readonly string[]): Promise<number> {
  const asked = readArguments(args);
  if (typeof asked === 'string') {
    console.error(`${asked}\nRun npm run proof -- --help to see what there is.`);
    return 2;
  }
  const { options, figures, files } = asked;
  if (options.help || options.list) {
    process.stdout.write(options.help ? HELP : renderList());
    return 0;
  }
  // Daemons and commands run from the build that is published.
  await buildIfStale();
  if (files.length > 0) return runFiles(files);

  const size: Size = options.quick ? 'quick' : 'full';
  const commit = findCommit();
  const clock = new Clock(figures, size, commit);
  const verdicts: boolean[] = [];
  for (const figure of figures) {
    const result = await measure(figure, { size, commit, again: options.again, clock });
    if (result === undefined) return 130;
    verdicts.push(result.met);
    if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
    console.error(`${result.met ? 'met   ' : 'MISSED'} ${figure.what}: ${result.measured} (goal: ${figure.goal})\n`);
    if (size === 'full') {
      keepResult(result);
      writeFileSync(join(ROOT, 'docs/proof.md'), renderPage(FIGURES, readResults()));
    }
  }
  return verdicts.every(Boolean) ? 0 : 1;
}

interface Asked {
  readonly options: Record<'help' | 'list' | 'quick' | 'again' | 'json', boolean>;
  readonly figures: readonly Figure[];
  readonly files: readonly string[];
}

/** The parsed arguments, or what is wrong with them. */
function readArguments(args: readonly string[]): Asked | string {
  try {
    const flag = { type: 'boolean', default: false } as const;
    const { values: options, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { help: { ...flag, short: 'h' }, list: flag, quick: flag, again: flag, json: flag },
    });
    const files = positionals.filter((word) => word.startsWith('test/'));
    const names = positionals.filter((word) => !word.startsWith('test/'));
    const unknown = names.find((name) => !FIGURES.some((one) => one.name === name));
    if (unknown !== undefined) {
      return `There is no figure "${unknown}"; there are ${FIGURES.map(({ name }) => name).join(', ')}.`;
    }
    if (files.length > 0 && names.length > 0) return 'Name figures or test files, not both.';
    return { options, files, figures: FIGURES.filter(({ name }) => names.length === 0 || names.includes(name)) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function runFiles(files: readonly string[]): number {
  const env = { ...process.env, TROUPE_PROOF: process.env['TROUPE_PROOF'] ?? '1' };
  return spawnSync('vitest', ['run', ...files], { cwd: ROOT, stdio: 'inherit', env }).status ?? 1;
}

interface Measuring {
  readonly size: Size;
  readonly commit: string;
  readonly again: boolean;
  readonly clock: Clock;
}

/** Measures one figure, or what is left of it. Nothing if it was stopped. */
async function measure(figure: Figure, { size, commit, again, clock }: Measuring): Promise<FigureResult | undefined> {
  const parts: Record<string, PartResult> = {};
  for (const part of figure.parts) {
    const key = keyOf(part, size);
    const kept = again ? undefined : readUnfinished(commit).parts[key];
    if (kept?.passed) {
      parts[key] = kept;
      console.error(`${figure.name}: ${key} was measured before`);
      continue;
    }
    console.error(`${figure.name}: ${key} … (${clock.left(key)} left in all)`);
    const run = await runPart(part, size);
    if (isStopped || !run) return undefined;
    const { output, ...result } = run;
    parts[key] = result;
    clock.done(key);
    const unfinished = readUnfinished(commit);
    keepUnfinished({ commit, parts: { ...unfinished.parts, [key]: result } });
    console.error(`  ${result.passed ? 'passed' : 'FAILED'} after ${showSeconds(result.seconds)}`);
    if (!result.passed) console.error(`${output}\nTo repeat this: TROUPE_SEED=${result.seed}`);
  }
  const results = Object.entries(parts);
  const failed = results.filter(([, { passed }]) => !passed).map(([key]) => key);
  const verdict =
    failed.length > 0
      ? { met: false, measured: `a test failed: ${failed.join(', ')}` }
      : figure.judge(new Sums(results.flatMap(([, { facts }]) => facts)));
  const seen = results.map(([key, { passed: _passed, facts: _facts, ...rest }]) => [key, rest] as const);
  const date = new Date().toISOString().slice(0, 10);
  return { name: figure.name, ...verdict, date, commit, machine: describeMachine(), parts: Object.fromEntries(seen) };
}

/** How long the rest takes: by the last measurement of each part, or by its estimate. */
class Clock {
  readonly #seconds = new Map<string, number>();

  constructor(figures: readonly Figure[], size: Size, commit: string) {
    const last = readResults().flatMap(({ parts }) => Object.entries(parts));
    const { parts: done } = readUnfinished(commit);
    for (const part of figures.flatMap(({ parts }) => parts)) {
      const key = keyOf(part, size);
      const known = last.find(([name]) => name === key)?.[1].seconds;
      if (!done[key]?.passed) this.#seconds.set(key, known ?? (size === 'full' ? part.minutes * 60 : QUICK_SECONDS));
    }
  }

  left(key: string): string {
    const rest = [...this.#seconds].reduce((sum, [, seconds]) => sum + seconds, 0);
    return `about ${showSeconds(Math.max(rest, this.#seconds.get(key) ?? 0))}`;
  }

  done(key: string): void {
    this.#seconds.delete(key);
  }
}

/** What a part takes with `--quick`, on average. */
const QUICK_SECONDS = 20;

/** A run that was stopped keeps the parts that had ended, not the one that was running. */
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isStopped = true;
    console.error('Stopped. The same command continues after the last part that ended.');
  });
}

function showSeconds(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}

function renderList(): string {
  const rows = FIGURES.map(({ name, what, goal, parts }) => {
    const minutes = parts.reduce((sum, part) => sum + part.minutes, 0);
    return `${name.padEnd(12)} ${what}\n${' '.repeat(13)}goal: ${goal}\n${' '.repeat(13)}about ${minutes} min: ${parts.map(nameOf).join(', ')}\n`;
  });
  return rows.join('\n');
}

process.exitCode = await main(process.argv.slice(2));
