import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Command } from '../../src/core/command.ts';
import { decide } from '../../src/core/decide.ts';
import { TeamError } from '../../src/core/errors.ts';
import { evolve } from '../../src/core/evolve.ts';
import { createState } from '../../src/core/state.ts';
import type { TeamState } from '../../src/core/state.ts';
import { expectAnswer, expectSame, factOf, observeState } from '../ledger/model/compare.ts';
import type { Answer } from '../ledger/model/compare.ts';
import { commandOf, draft, opening } from '../ledger/model/drafts.ts';
import type { Draft } from '../ledger/model/drafts.ts';
import { doCommand } from '../ledger/model/rules.ts';
import { emptyWorld, TEAM } from '../ledger/model/world.ts';
import { rounds } from '../proof.ts';

/** The ledger's own test of the model (`test/ledger/model.test.ts`) draws other stories each time, and breaks its journal. */
const STORIES = rounds(3, 300);

test.each([1, 2, 3, 4, 5, 6, 7, 8])('the rules alone match a simple model: stories %i', (seed) => {
  const stories = fc.array(draft, { minLength: 60, maxLength: 60 });
  // The first ones of a sample have small values.
  for (const story of fc.sample(stories, { numRuns: 2 * STORIES, seed }).slice(STORIES)) tell(story);
});

function tell(story: readonly Draft[]): void {
  const state = createState(TEAM);
  const world = emptyWorld();
  let now = 1_000_000;
  for (const command of opening(now)) {
    doCommand(world, command);
    answer(state, command);
  }
  for (const [i, drawn] of story.entries()) {
    now += drawn.later;
    const command = commandOf(world, drawn, now);
    expectAnswer(answer(state, command), doCommand(world, command), command);
    // A difference stays: it is enough to look for it now and then.
    if (i % 10 === 9) expectSame(observeState(state), world);
  }
  // Accounts and works have no field without a value: clients show each field that is there.
  const records = [[...state.accounts.values()], [...state.tasks.values()].map(({ work = {} }) => work)];
  expect(records).toStrictEqual(JSON.parse(JSON.stringify(records)));
}

function answer(state: TeamState, command: Command): Answer {
  try {
    const events = decide(state, command);
    for (const event of events) evolve(state, event);
    return { facts: events.map(factOf) };
  } catch (error) {
    if (error instanceof TeamError) return { code: error.code };
    throw error;
  }
}
