import { z } from 'zod';
import { USAGE_COST, USAGE_COUNT } from './limits.ts';

/** How much may be used; a missing measure has no limit. */
export const Budget = z.strictObject({
  /** Tokens read and written; tokens read from a cache do not count. */
  tokens: z.number().int().min(1).max(USAGE_COUNT).optional(),
  /** US dollars. */
  costUsd: z.number().positive().max(USAGE_COST).optional(),
  turns: z.number().int().min(1).max(USAGE_COUNT).optional(),
  /** Minutes in which the member, or any member of the team, was not stopped; or in which the task was worked on. */
  minutes: z.number().positive().max(525_600).optional(),
});
export type Budget = z.output<typeof Budget>;

/** How much a person adds to a budget, in the unit of the budget. */
export const GrantAmount = z.number().positive().max(USAGE_COUNT);

/** What a budget can limit. */
export type BudgetMeasure = keyof Budget;

const Amount = z.number().optional();

/** How much of each measure people added to a budget when they were asked. It is part of the limit. */
export const Granted = z.object({ tokens: Amount, costUsd: Amount, turns: Amount, minutes: Amount });
export type Granted = z.output<typeof Granted>;

/** A budget, and the part of it that people granted. */
export interface Limits {
  readonly budget?: Budget | undefined;
  readonly granted?: Granted | undefined;
}

/** How much a person's yes gives: the limit without earlier grants. Otherwise each yes would double the limit. */
export function grantOf(limits: Limits | undefined, what: BudgetMeasure): number {
  const { budget = {}, granted = {} } = limits ?? {};
  const { [what]: limit = 0 } = budget;
  const { [what]: before = 0 } = granted;
  return limit > before ? limit - before : limit;
}

/** The limits after a person's yes: that much more than is used by now; without an amount, as much as at first. */
export function grantMore(
  limits: Limits,
  { what, used, grants = grantOf(limits, what) }: { what: BudgetMeasure; used: number; grants?: number | undefined },
): { budget: Budget; granted: Granted } {
  const { budget, granted } = limits;
  const raised = used + grants;
  const isWhole = what === 'tokens' || what === 'turns';
  const limit = isWhole ? Math.ceil(raised) : raised;
  const more = limit - (budget?.[what] ?? 0) + (granted?.[what] ?? 0);
  return { budget: { ...budget, [what]: limit }, granted: { ...granted, [what]: more } };
}

/** A team file's budget, with what people granted on top of it. */
export function withGrants(budget: Budget, granted: Granted = {}): Budget {
  const entries = Object.entries(budget) as [BudgetMeasure, number][];
  return Object.fromEntries(entries.map(([what, limit]) => [what, limit + (granted[what] ?? 0)]));
}

/** Whether a budget limits anything. */
export function hasLimits(budget: Budget | undefined): budget is Budget {
  return Object.values(budget ?? {}).some((limit) => limit !== undefined);
}

/** Whether `after` allows more than `before` in any measure. */
export function isRaised(before: Budget | undefined, after: Budget): boolean {
  const measures = ['tokens', 'costUsd', 'turns', 'minutes'] as const;
  return measures.some((what) => (before?.[what] ?? Infinity) < (after[what] ?? Infinity));
}
