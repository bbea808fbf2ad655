import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryJournal } from '../../src/journal/memory.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { draw } from '../draw.ts';
import { rounds } from '../proof.ts';
import { COMMANDS } from '../samples/commands.ts';
import { WORK_EVENTS } from '../samples/work.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { commandOf, draft, opening } from './model/drafts.ts';
import { doCommand } from './model/rules.ts';
import { scenario } from './model/runs.ts';
import { runScenario } from './model/scenario.ts';
import { emptyWorld } from './model/world.ts';

/** How many runs; fast-check prints the seed of a failure. */
const RUNS = rounds(30, 20_000);

test('the drafts do every command, and each has an effect sometimes', () => {
  // The opening makes the team.
  const commands = new Set(Object.keys(COMMANDS).filter((type) => type !== 'team.create'));
  const facts = new Set<string>(Object.keys(WORK_EVENTS));
  let together = 0;
  /** How often a person stopped the members of a limited account. */
  let stopped = 0;
  for (const story of draw(fc.array(draft, { minLength: 60, maxLength: 60 }), { most: 300, seed: 1 })) {
    const landed = new Map<string, number>();
    const world = emptyWorld();
    for (const command of opening(0)) doCommand(world, command);
    for (const [i, drawn] of story.entries()) {
      const command = commandOf(world, drawn, 1000 * i);
      const { since } = world.team?.work?.landing ?? {};
      const outcome = doCommand(world, command);
      if ('codes' in outcome || outcome.facts.length === 0) continue;
      expect(command.type).not.toBe('team.create');
      commands.delete(command.type);
      if (command.type === 'request.answer') {
        stopped += outcome.facts.filter((fact) => fact.startsWith('teammate:stopped')).length;
      }
      for (const fact of outcome.facts) facts.delete(fact.split(' ', 1)[0] as string);
      if (command.type !== 'task.complete' || command.work?.landingId === undefined) continue;
      const landing = `${command.work.landingId} since ${since}`;
      const hasLanded = outcome.facts.some((fact) => fact.startsWith('work:landed'));
      landed.set(landing, (landed.get(landing) ?? 0) + Number(hasLanded));
    }
    together += [...landed.values()].filter((count) => count > 1).length;
    if (commands.size + facts.size === 0 && together > 10 && stopped > 0) break;
  }
  expect([...commands, ...facts]).toEqual([]);
  // Works land together.
  expect(together).toBeGreaterThan(10);
  expect(stopped).toBeGreaterThan(0);
});

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
    { numRuns: Math.ceil(RUNS / 10) },
  );
  expect(runs).toBeGreaterThan(0);
});
