import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { rounds, tell } from '../proof.ts';
import { BUGS, editsOf } from './bugs.ts';

const ROOT = dirname(dirname(import.meta.dirname));

/** Runs the simulator in a process of its own: it replaces clocks and timers. */
async function simulate({ bug }: { bug?: string }, ...args: string[]): Promise<string> {
  const platform = join(ROOT, 'test/simulator/platform.ts');
  const command = ['--import', platform, join(ROOT, 'scripts/simulate.ts'), ...args];
  const env = { ...process.env, ...(bug !== undefined && { TROUPE_SIMULATED_BUG: bug }) };
  const { stdout } = await promisify(execFile)(process.execPath, command, { env, maxBuffer: 2 ** 28 });
  return stdout;
}

test('a bug of the past is found', async () => {
  for (const { file, now } of BUGS.flatMap(editsOf)) {
    expect(readFileSync(join(ROOT, 'src', file), 'utf8')).toContain(now);
  }
  const bug = 'several things at a time touch a team';
  const run = simulate({ bug }, '--seed', '9', '--steps', '50000', '--json');
  await expect(run).rejects.toThrow(/Broken at step/);
});

const STEPS = rounds(50_000, 1_000_000);

test(`every promise is kept in ${STEPS} simulated steps with faults`, async () => {
  // In a proof other seeds each time: a run that fails names its own.
  const seed = process.env['TROUPE_SEED'] ?? String(rounds(1, Math.floor(Math.random() * 1e9)));
  for (const [kind, share] of [
    ['team', 0.55],
    ['bridge', 0.25],
    ['sqlite', 0.2],
  ] as const) {
    const said = await simulate({}, '--kind', kind, '--seed', seed, '--steps', String(Math.round(STEPS * share)));
    expect(said).toContain('every promise was kept');
  }
  tell({ steps: STEPS });
});

test.for([
  ['team', '5', '40'],
  ['bridge', '10', '15'],
  ['sqlite', '4', '40'],
] as const)('the same seed gives the same run, byte for byte: %s', async ([kind, seed, faults]) => {
  const run = (): Promise<string> =>
    simulate({}, '--kind', kind, '--seed', seed, '--steps', '1', '--faults', faults, '--trace');
  const [first, second] = [await run(), await run()];
  expect(first).toContain(`fault ${Number(faults) - 1}`);
  expect(second).toBe(first);
});
