import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { rounds, tell } from '../proof.ts';
import { BUGS, editsOf } from './bugs.ts';

const ROOT = dirname(dirname(import.meta.dirname));

/** Each process loads all of the program; the next ones load it faster. */
const CACHE = join(tmpdir(), 'compile-cache');

/** Runs the simulator in a process of its own: it replaces clocks and timers. */
async function simulate({ bug }: { bug?: string }, ...args: string[]): Promise<string> {
  const platform = join(ROOT, 'test/simulator/platform.ts');
  const command = ['--import', platform, join(ROOT, 'scripts/simulate.ts'), ...args];
  const env = { ...process.env, NODE_COMPILE_CACHE: CACHE, ...(bug !== undefined && { TROUPE_SIMULATED_BUG: bug }) };
  const { stdout } = await promisify(execFile)(process.execPath, command, { env, maxBuffer: 2 ** 28 });
  return stdout;
}

test('a bug of the past is found', async () => {
  for (const { file, now } of BUGS.flatMap(editsOf)) {
    expect(readFileSync(join(ROOT, 'src', file), 'utf8')).toContain(now);
  }
  const bug = 'several things at a time touch a team';
  const run = simulate({ bug }, '--kind', 'team', '--seed', '2', '--steps', '50000', '--json');
  await expect(run).rejects.toThrow(/Broken at step/);
});

const STEPS = rounds(100_000, 1_000_000);

test(`every promise is kept in ${STEPS} simulated steps with faults`, async () => {
  // In a proof other seeds each time: a run that fails names its own.
  const seed = process.env['TROUPE_SEED'] ?? String(rounds(1, Math.floor(Math.random() * 1e9)));
  expect(await simulate({}, '--seed', seed, '--steps', String(STEPS))).toContain('every promise was kept');
  tell({ steps: STEPS });
});

test('the same seed gives the same run, byte for byte', async () => {
  // One of each kind. The line of a run has a checksum of everything that happened.
  const run = (): Promise<string> => simulate({}, '--seed', '11', '--runs', '4', '--faults', '15');
  const [first, second] = [await run(), await run()];
  expect(first).toMatch(/Claude Code.*\n.*NATS/);
  expect(second).toBe(first);
});
