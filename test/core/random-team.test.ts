import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { COMMANDS } from '../samples/commands.ts';
import { QUEUE, steps, walk } from './random-team.ts';

test('random stories do every command, and each has an effect sometimes', () => {
  const done = new Set<string>();
  for (const [n, drawn] of fc.sample(steps(100), { numRuns: 300, seed: 1 }).entries()) {
    // In half of them, works wait to land.
    const story = n % 2 === 0 ? drawn : [...QUEUE, ...drawn];
    walk(story, (_before, { type }, events = []) => {
      if (events.length > 0) done.add(type);
    });
  }
  expect(Object.keys(COMMANDS).filter((type) => !done.has(type))).toEqual([]);
});
