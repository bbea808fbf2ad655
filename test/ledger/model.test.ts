import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryJournal } from '../../src/journal/memory.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { rounds } from '../proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { scenario } from './model/runs.ts';
import { runScenario } from './model/scenario.ts';

/** How many runs; fast-check prints the seed of a failure. */
const RUNS = rounds(60, 20_000);

test(`the ledger matches a simple model in ${RUNS} runs in memory`, async () => {
  await fc.assert(
    fc.asyncProperty(scenario, (drawn) => runScenario(memoryJournal(), drawn)),
    { numRuns: RUNS },
  );
});

test('the ledger matches a simple model on files', async () => {
  const folder = temporaryFolder();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(scenario, async (drawn) => {
      const journal = sqliteJournal(join(folder, `${runs++}.db`));
      try {
        await runScenario(journal, drawn);
      } finally {
        await journal.close();
      }
    }),
    { numRuns: Math.ceil(RUNS / 20) },
  );
  expect(runs).toBeGreaterThan(0);
});
