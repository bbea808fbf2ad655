import { expect, test } from 'vitest';
import { draw } from '../draw.ts';
import { COMMANDS } from '../samples/commands.ts';
import { QUEUE, steps, walk } from './random-team.ts';

test('random stories do every command, and each has an effect sometimes', () => {
  const missing = new Set(Object.keys(COMMANDS));
  let isQueued = false;
  for (const drawn of draw(steps(100), { most: 300, seed: 1 })) {
    // In half of them, works wait to land.
    const story = isQueued ? [...QUEUE, ...drawn] : drawn;
    isQueued = !isQueued;
    walk(story, (_before, { type }, events = []) => {
      if (events.length > 0) missing.delete(type);
    });
    if (missing.size === 0) break;
  }
  expect([...missing]).toEqual([]);
});
