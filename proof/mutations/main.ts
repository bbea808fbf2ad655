// Tries mutants of one room: node proof/mutations/main.ts ROOM. `npm run proof -- mutations` runs it for every room.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { findCommit, ROOT } from '../results.ts';
import { measureRoom, scoreOf } from './measure.ts';
import { ROOMS } from './rooms.ts';
import { intervalOf, percent } from './score.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    lanes: { type: 'string' },
    source: { type: 'string', multiple: true },
    test: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    score: { type: 'string' },
  },
});

const HELP = `Usage: node proof/mutations/main.ts ROOM [--sample N] [--lanes N] [--source PATTERN]... [--test PATTERN]... [--quick] [--score FILE]

Rooms: ${ROOMS.map(({ name }) => name).join(', ')}. --source and --test take other files than the room's.
--score writes what was measured to a file.
TROUPE_SEED=N repeats a sample.
`;

const QUICK_SAMPLE = 10;

async function main(): Promise<number> {
  const room = ROOMS.find(({ name }) => name === positionals[0]);
  if (!room || positionals.length !== 1) {
    process.stderr.write(HELP);
    return 2;
  }
  const seed = Number(process.env['TROUPE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
  const [source, test] = room.quick;
  const { sources, tests } = values.quick ? { sources: [source], tests: [test] } : room;
  const measured = await measureRoom(
    { sources: values.source ?? sources, tests: values.test ?? tests },
    {
      root: ROOT,
      seed,
      sample: Number(values.sample ?? (values.quick ? QUICK_SAMPLE : room.sample)),
      lanes: Number(values.lanes ?? availableParallelism()),
      signal: stopped.signal,
      say: (line) => console.error(`  ${room.name}: ${line}`),
    },
  );
  if (stopped.signal.aborted) return 130;
  const score = scoreOf(room.name, measured);
  if (values.score !== undefined) writeFileSync(values.score, JSON.stringify(score));
  for (const { file, line, was, now, isCovered } of score.survivors) {
    console.log(`${file}:${line}  ${was}  ->  ${now || '(removed)'}${isCovered ? '' : '  (no test reaches it)'}`);
  }
  for (const name of score.unusable) console.log(`fails without a mutant: ${name}`);
  const [least, most] = intervalOf(score);
  console.log(
    `${room.name}: ${score.killed} of ${score.sample} killed, ${percent(score.killed / score.sample)} (95 %: ${percent(least)} to ${percent(most)}), ` +
      `${score.hung} by hanging; ${score.mutants} mutants; seed ${seed}, commit ${findCommit()}`,
  );
  return 0;
}

process.exitCode = await main();
