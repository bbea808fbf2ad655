import { z } from 'zod';
import { USAGE_COST, USAGE_COUNT } from './limits.ts';

/** How much may be used; a missing measure has no limit. */
export const Budget = z.strictObject({
  /** Tokens read and written; tokens read from a cache do not count. */
  tokens: z.number().int().min(1).max(USAGE_COUNT).optional(),
  /** US dollars. */
  costUsd: z.number().positive().max(USAGE_COST).optional(),
  turns: z.number().int().min(1).max(USAGE_COUNT).optional(),
  /** Minutes since the team was created or the member joined. */
  minutes: z.number().positive().max(525_600).optional(),
});
export type Budget = z.output<typeof Budget>;

/** What a budget can limit. */
export type BudgetMeasure = keyof Budget;

/** The budget that a person's yes gives: the used amount plus the old limit. */
export function raiseBudget(budget: Budget, { what, used }: { what: BudgetMeasure; used: number }): Budget {
  const raised = used + (budget[what] ?? 0);
  const isWhole = what === 'tokens' || what === 'turns';
  return { ...budget, [what]: isWhole ? Math.ceil(raised) : raised };
}

/** Whether `after` allows more than `before` in any measure. */
export function isRaised(before: Budget | undefined, after: Budget): boolean {
  const measures = ['tokens', 'costUsd', 'turns', 'minutes'] as const;
  return measures.some((what) => (before?.[what] ?? Infinity) < (after[what] ?? Infinity));
}
