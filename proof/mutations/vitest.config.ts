import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import { temporaryRoot } from '../../test/setup/temporary-root.ts';
import { Plan, PLAN_VARIABLE } from './plan.ts';

const plan = Plan.parse(JSON.parse(readFileSync(process.env[PLAN_VARIABLE] ?? '', 'utf8')));

/** Long enough for what starts servers before the first test. */
const HOOK_MS = 60_000;

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      plan.files.findIndex((path) => moduleId.endsWith(`/${path}`));
    return files.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  root: plan.copy,
  cacheDir: join(plan.copy, '.vite'),
  test: {
    include: plan.files,
    runner: join(import.meta.dirname, 'runner.ts'),
    setupFiles: [join(plan.copy, 'test/setup/file.ts'), join(import.meta.dirname, 'setup.ts')].filter(existsSync),
    // One process for all files, one test at a time: one mutant is on at a time.
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    maxConcurrency: 1,
    bail: plan.mode === 'whole' ? 1 : 0,
    sequence: { sequencer: InOrder },
    env: { TROUPE_SOURCE: '1', TMPDIR: temporaryRoot() },
    reporters: ['dot'],
    retry: 0,
    testTimeout: 300_000,
    hookTimeout: HOOK_MS,
    expect: { poll: { timeout: 10_000, interval: 50 } },
    silent: true,
    passWithNoTests: true,
  },
});
