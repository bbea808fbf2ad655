import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { isBuilt } from './scripts/stale.ts';
import { isProof } from './test/proof.ts';
import { LongFirst } from './test/setup/long-first.ts';
import { Summary } from './test/setup/summary.ts';
import { temporaryRoot } from './test/setup/temporary-root.ts';
import { HANG_MS } from './test/until.ts';

/**
 * Files whose tests look at what their whole process has or does (its heap, its handles). All others share processes: to start one for
 * each file and load everything again takes 0.9 s of processor time (measured).
 */
const ALONE = ['test/client/calls.test.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...ALONE, '**/node_modules/**'],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
    // Real processes, not threads: tests send signals, change the umask and look at what their process holds.
    pool: 'forks',
    // One more than there are cores keeps all of them busy. On two cores a whole run took 954 s with three workers, 970 s with six.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
    globalSetup: ['test/setup/leaks.ts'],
    setupFiles: ['test/setup/file.ts'],
    // What tests start is what was built, if nothing changed since: it starts in half the time. Else it is what is in src/.
    env: { TROUPE_SOURCE: process.argv.includes('run') && isBuilt() ? '' : '1', TMPDIR: temporaryRoot() },
    retry: 0,
    reporters: ['default', new Summary()],
    // Only a hang reaches these. How long the work itself takes is up to the machine, and no test asserts it.
    testTimeout: isProof ? 6 * 3_600_000 : 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: HANG_MS, interval: 50 } },
    // What a passing test printed is of no interest.
    silent: 'passed-only',
    coverage: { provider: 'v8', include: ['src/**'] },
  },
});
