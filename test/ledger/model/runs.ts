import * as fc from 'fast-check';
import { draft } from './drafts.ts';
import type { Step } from './scenario.ts';

const one = draft.map((single) => [single]);
const several = fc.array(draft, { minLength: 2, maxLength: 5 });
const either = fc.constantFrom('ledger' as const, 'ledger' as const, 'rival' as const);

function commands(step: Partial<Extract<Step, { kind: 'commands' }>>, drafts = one): fc.Arbitrary<Step> {
  const usual = { kind: 'commands', atOnce: 'as one step', journal: 'works', through: 'ledger' } as const;
  return drafts.map((all): Step => ({ ...usual, ...step, drafts: all }));
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 200, arbitrary: commands({}) },
  { weight: 20, arbitrary: commands({}, several) },
  { weight: 20, arbitrary: commands({ atOnce: 'in one commit' }, several) },
  { weight: 30, arbitrary: commands({ through: 'rival' }) },
  {
    weight: 25,
    arbitrary: fc.tuple(draft, draft).map(([first, own]): Step => ({
      kind: 'commands',
      atOnce: 'as one step',
      through: 'ledger',
      drafts: [own],
      journal: { first },
    })),
  },
  { weight: 15, arbitrary: commands({ journal: 'fails' }) },
  { weight: 8, arbitrary: commands({ journal: 'fails', atOnce: 'in one commit' }, several) },
  { weight: 10, arbitrary: commands({ journal: 'loses the answer' }) },
  {
    weight: 12,
    arbitrary: fc
      .tuple(either, fc.constantFrom(5, 100_000))
      .map(([ledger, snapshotEvery]): Step => ({ kind: 'reopen', ledger, snapshotEvery })),
  },
  { weight: 1, arbitrary: either.map((through): Step => ({ kind: 'drop', through })) },
);

/** Runs of all kinds; most steps are everyday ones. */
export const scenario = fc.record({
  bare: fc.integer({ min: 0, max: 19 }).map((n) => n === 19),
  steps: fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }),
});
