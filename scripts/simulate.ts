// Runs the simulator: npm run simulate -- --seed N --steps N [--trace]. One seed gives one run, byte for byte. A run that
// fails is repeated without as many of its faults as possible, and the command that repeats the rest is printed.
import { parseArgs } from 'node:util';
import { KINDS, simulate } from '../test/simulator/run.ts';
import type { Kind, RunOptions, RunResult } from '../test/simulator/run.ts';

const HELP = `npm run simulate -- [options]

  --seed N     the first seed (default: 1)
  --steps N    how many steps in all (default: 100000)
  --runs N     how many runs, instead of steps
  --kind NAME  only runs of this kind: team, bridge, sqlite or nats (default: all, in turn)
  --faults N   how many faults a run has (default: 40)
  --skip LIST  faults that are left out, by their number: 3,7-9
  --trace      print everything that happens; for one run
  --json       print one line of JSON for each run, and look for nothing else

TROUPE_SIMULATED_BUG=NAME brings back a bug of the past (test/simulator/bugs.ts).`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '100000' },
    runs: { type: 'string' },
    kind: { type: 'string' },
    faults: { type: 'string', default: '40' },
    skip: { type: 'string', default: '' },
    trace: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** The numbers of a list such as `3,7-9`. */
function numbersOf(list: string): Set<number> {
  return new Set(
    list.split(',').flatMap((part) => {
      const [from = '', to = from] = part.split('-');
      return from === '' ? [] : Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => Number(from) + at);
    }),
  );
}

/** The same numbers as a list. */
function listOf(numbers: ReadonlySet<number>): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length;) {
    let end = at;
    while (sorted[end + 1] === (sorted[end] as number) + 1) end++;
    parts.push(end === at ? String(sorted[at]) : `${sorted[at]}-${sorted[end]}`);
    at = end + 1;
  }
  return parts.join(',');
}

function requireNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  console.error(`--${name} is a whole number, not ${JSON.stringify(text)}`);
  process.exit(2);
}

/** The kinds in turn. A run on NATS has four times the steps of others. */
const TURN: readonly Kind[] = ['team', 'team', 'bridge', 'nats', 'sqlite', 'team', 'team', 'bridge', 'team', 'sqlite'];

/** The kind of a run: what was asked for, or it follows from the seed. */
function kindOf(seed: number): Kind {
  const { kind } = values;
  if (kind === undefined) return TURN[seed % TURN.length] ?? 'team';
  const found = KINDS.find((one) => one === kind);
  if (found) return found;
  console.error(`--kind is one of ${KINDS.join(', ')}, not ${JSON.stringify(kind)}`);
  process.exit(2);
}

/** Leaves out faults, half of them at first, as long as the run still fails in the same way. */
async function shrink(failed: RunResult, options: RunOptions): Promise<ReadonlySet<number>> {
  const skipped = new Set(options.skipped);
  const wayOf = ({ violation }: RunResult): string =>
    violation?.message.replaceAll(/[\d-]+|[0-9a-f]{8,}/g, '#').slice(0, 60) ?? '';
  let rest = Array.from({ length: options.faults }, (_, at) => at).filter((at) => !skipped.has(at));
  for (
    let size = Math.ceil(rest.length / 2);
    size >= 1 && rest.length > 0;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < rest.length;) {
      const without = rest.slice(from, from + size);
      const tried = await simulate({ ...options, skipped: new Set([...skipped, ...without]) });
      if (wayOf(tried) === wayOf(failed)) {
        for (const one of without) skipped.add(one);
        rest = rest.filter((one) => !skipped.has(one));
      } else from += size;
    }
  }
  return skipped;
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const seed = requireNumber('seed', values.seed);
  const all = requireNumber('steps', values.steps);
  const most = values.runs === undefined ? Infinity : requireNumber('runs', values.runs);
  const faults = requireNumber('faults', values.faults);
  const skipped = numbersOf(values.skip);
  const trace = values.trace ? (line: string) => console.log(line) : undefined;
  let steps = 0;
  let runs = 0;
  for (let next = seed; (most < Infinity || steps < all) && runs < most; next++) {
    const kind = kindOf(next);
    const options = { seed: next, kind, faults, skipped, ...(trace && { trace }) };
    const result = await simulate(options);
    steps += result.steps;
    runs++;
    const { cast, counts, time, fingerprint, violation } = result;
    if (values.json) console.log(JSON.stringify({ ...result, violation: violation?.message }));
    else {
      const who = `${cast.machines} machines, ${cast.members} members, ${cast.tasks} tasks${cast.apart ? ', merge queue' : ''}${cast.native ? `, Claude Code ${cast.native}` : ''}${cast.nats ? `, NATS ${cast.nats}` : ''}`;
      const what = `${result.steps} steps, ${(time / 60_000).toFixed(1)} min, ${counts.events} events`;
      console.log(`seed ${next}: ${who}: ${what}, ${fingerprint}`);
    }
    if (violation) {
      console.error(
        `\nBroken at step ${violation.step}, ${(violation.at / 1_000).toFixed(3)} s: ${violation.message}\n`,
      );
      if (trace || values.json) return 1;
      console.error('Looking for the faults that it needs ...');
      const without = await shrink(result, options);
      const skip = without.size > 0 ? ` --skip ${listOf(without)}` : '';
      console.error(`${faults - without.size} of ${faults} faults are needed. See it again:`);
      const bug = process.env['TROUPE_SIMULATED_BUG'];
      const prefix = bug === undefined ? '' : `TROUPE_SIMULATED_BUG='${bug}' `;
      console.error(
        `${prefix}npm run simulate -- --kind ${kind} --seed ${next} --steps 1 --faults ${faults}${skip} --trace`,
      );
      return 1;
    }
    if (trace) break;
  }
  if (!values.json) console.log(`\n${runs} runs, ${steps} steps: every promise was kept.`);
  return 0;
}

process.exitCode = await main();
