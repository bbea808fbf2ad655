import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { arch, cpus, platform } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { buildIfStale } from '../scripts/stale.ts';
import { ALL } from './all.ts';
import { readArguments, textFor } from './arguments.ts';
import type { Benchmark, Result } from './benchmark.ts';
import { renderResult } from './table.ts';

const RESULTS = join(import.meta.dirname, 'results.json');

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const asked = readArguments(args);
  if (typeof asked === 'string') {
    console.error(`${asked}\nRun npm run bench -- --help to see what there is.`);
    return 2;
  }
  const { json, quick } = asked.options;
  const text = textFor(asked.options);
  if (text !== undefined) {
    process.stdout.write(text);
    return 0;
  }

  // Daemons and commands run from the build that is published.
  await buildIfStale();
  const results: Result[] = [];
  for (const benchmark of asked.benchmarks) {
    if (!json) console.error(`${benchmark.name} ...`);
    const result = await runAlone(benchmark, quick);
    results.push(result);
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : renderResult(result));
    if (json && result.error !== undefined) console.error(`${result.name}: ${result.error}`);
  }
  const runsAll = asked.benchmarks.length === ALL.length;
  if (runsAll && !json && !quick) {
    writeFileSync(RESULTS, `${JSON.stringify({ ...machine(), results }, undefined, 2)}\n`);
  }
  return results.every(({ ok, error }) => (quick ? error === undefined : ok)) ? 0 : 1;
}

/** Runs each benchmark in its own process: heap and compiled code of one must not affect the next. */
async function runAlone({ name, unit }: Benchmark, quick: boolean): Promise<Result> {
  const args = [join(import.meta.dirname, 'run.ts'), name, ...(quick ? ['--quick'] : [])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`ended with ${signal ?? code} and no result`));
  });
  const printed = await textOf(child.stdout);
  const error = await ended;
  if (printed !== '') return JSON.parse(printed) as Result;
  const nothing = { value: null, limit: null, limitValue: null, ratio: null, peers: [], targets: [], rounds: 0 };
  return { name, unit, ...nothing, ok: false, error };
}

/** The machine, versions and date: a figure without them says little. */
function machine(): Record<string, string | number> {
  return {
    date: new Date().toISOString(),
    node: process.version,
    sqlite: process.versions['sqlite'] ?? 'unknown',
    platform: `${platform()} ${arch()}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
  };
}
