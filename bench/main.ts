import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { arch, cpus, platform } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { buildIfStale } from '../scripts/stale.ts';
import { ALL } from './all.ts';
import type { Benchmark, Result } from './benchmark.ts';
import { renderList, renderResult } from './table.ts';

const HELP = `Benchmarks of Troupe, each beside its limit and its peers in the same run.

Usage: npm run bench                          all of them; writes bench/results.json
       npm run bench -- NAME...               some of them
       npm run --silent bench -- --json NAME...   one JSON object per line on stdout, nothing else

Options:
  --list   what there is, with targets
  --quick  tiny sizes and one round: shows that a benchmark works; its targets do not count
  --json   for programs
  --help   this help

Exit code: 0 all targets met, 1 one missed or something lost or doubled, 2 wrong usage.
`;

const RESULTS = join(import.meta.dirname, 'results.json');

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const asked = readArguments(args);
  if (typeof asked === 'string') {
    console.error(`${asked}\nRun npm run bench -- --help to see what there is.`);
    return 2;
  }
  const { json, quick, list, help } = asked.options;
  if (help || list) {
    process.stdout.write(help ? HELP : renderList(ALL));
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

interface Asked {
  readonly options: { readonly json: boolean; readonly quick: boolean; readonly list: boolean; readonly help: boolean };
  readonly benchmarks: readonly Benchmark[];
}

/** The parsed arguments, or what is wrong with them. */
function readArguments(args: readonly string[]): Asked | string {
  try {
    const flag = { type: 'boolean', default: false } as const;
    const { values: options, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { json: flag, quick: flag, list: flag, help: { ...flag, short: 'h' } },
    });
    const unknown = positionals.find((name) => !ALL.some((one) => one.name === name));
    if (unknown !== undefined) {
      return `There is no benchmark "${unknown}"; there are ${ALL.map(({ name }) => name).join(', ')}.`;
    }
    const benchmarks = ALL.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
    return { options, benchmarks };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Runs each benchmark in its own process: heap and compiled code of one must not affect the next. */
async function runAlone({ name, unit }: Benchmark, quick: boolean): Promise<Result> {
  const args = [join(import.meta.dirname, 'run.ts'), name, ...(quick ? ['--quick'] : [])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`ended with ${signal ?? code} and no result`));
  });
  const printed = await text(child.stdout);
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
