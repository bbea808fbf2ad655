import { parseArgs } from 'node:util';
import { ALL } from './all.ts';
import type { Benchmark } from './benchmark.ts';
import { renderList } from './table.ts';

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

/** What was asked for. */
export interface Asked {
  readonly options: { readonly json: boolean; readonly quick: boolean; readonly list: boolean; readonly help: boolean };
  readonly benchmarks: readonly Benchmark[];
}

/** The parsed arguments, or what is wrong with them. */
export function readArguments(args: readonly string[]): Asked | string {
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

/** What is printed instead of a run of the benchmarks, if that was asked for. */
export function textFor({ help, list }: Asked['options']): string | undefined {
  return help ? HELP : list ? renderList(ALL) : undefined;
}
