import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { isBuilt } from './scripts/stale.ts';
import { LastWords } from './test/setup/last-words.ts';
import { LongFirst } from './test/setup/long-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real processes: tests change environment variables and signal handlers, and must not meet each other's.
    pool: 'forks',
    // Most of the time is waiting for processes; on a machine with two cores one file after another would take twice as long.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongFirst },
    globalSetup: ['test/setup/leaks.ts'],
    setupFiles: ['test/setup/file.ts'],
    // What tests start is what was built, if nothing changed since: it starts in half the time. Else it is what is in src/.
    env: { TROUPE_SOURCE: process.argv.includes('run') && isBuilt() ? '' : '1' },
    // Browsers, terminals and other people's programs on a machine that is busy now and then miss a deadline. What passes only in
    // the second round is named at the end: it is a fault to be found, but not of the change that was tested.
    retry: 1,
    reporters: ['default', new LastWords()],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // What a passing test printed is of no interest.
    silent: 'passed-only',
    coverage: { provider: 'v8', include: ['src/**'] },
  },
});
