import { expect, test } from 'vitest';
import type { Outcome } from '../../src/cli/commands/up/follow.ts';
import { summarize } from '../../src/cli/commands/up/summary.ts';
import type { Screen } from '../../src/cli/show/screen.ts';

const SCREEN: Screen = { isTerminal: false, hasColor: false, columns: Infinity, now: 0 };

test.each([
  [4_230, 'Ended in 4.2 s.'],
  [59_900, 'Ended in 59.9 s.'],
  [616_500, 'Ended in 10 min.'],
  [3 * 3_600_000, 'Ended in 3 h.'],
])('the summary of troupe up shows %i ms in a readable unit', (duration, text) => {
  const outcome: Outcome = { team: 'crew', reason: 'done', tasks: [], members: [], requests: [], earlier: 0, duration };
  expect(summarize(outcome, SCREEN, { goesOn: true })).toContain(text);
});
