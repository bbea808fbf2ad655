import { z } from 'zod';
import { USAGE_COST, USAGE_COUNT } from './limits.ts';

/** How much may be used; what is not named is not bounded. */
export const Budget = z.strictObject({
  /** Tokens read and written; those read from a cache are not counted. */
  tokens: z.number().int().min(1).max(USAGE_COUNT).optional(),
  /** US dollars. */
  costUsd: z.number().positive().max(USAGE_COST).optional(),
  turns: z.number().int().min(1).max(USAGE_COUNT).optional(),
  /** Minutes since the team was made or the member joined. */
  minutes: z.number().positive().max(525_600).optional(),
});
export type Budget = z.output<typeof Budget>;

/** What can be bounded. */
export type BudgetMeasure = keyof Budget;

/** The same budget with as much again as it was, on top of what is used: what a person's yes gives. */
export function raiseBudget(budget: Budget, { what, used }: { what: BudgetMeasure; used: number }): Budget {
  const raised = used + (budget[what] ?? 0);
  const isWhole = what === 'tokens' || what === 'turns';
  return { ...budget, [what]: isWhole ? Math.ceil(raised) : raised };
}

/** A budget that allows more than another, in any respect. */
export function isRaised(before: Budget | undefined, after: Budget): boolean {
  const measures = ['tokens', 'costUsd', 'turns', 'minutes'] as const;
  return measures.some((what) => (before?.[what] ?? Infinity) < (after[what] ?? Infinity));
}
