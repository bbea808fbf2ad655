import { z } from 'zod';
import type { Budget } from '../../core/budget.ts';
import { USAGE_COST, USAGE_COUNT } from '../../core/limits.ts';
import { Duration, milliseconds } from './values.ts';

/** The longest time of a budget. */
const LONGEST_MS = 8_760 * 3_600_000;

/** What may be used before a person is asked. */
export const BudgetEntry = z.strictObject({
  tokens: z.number().int().min(1).max(USAGE_COUNT).optional().describe('tokens, in and out'),
  usd: z.number().positive().max(USAGE_COST).optional().describe('US dollars'),
  turns: z.number().int().min(1).max(USAGE_COUNT).optional().describe('prompts, each with everything until the answer'),
  time: Duration.refine((time) => milliseconds(time) <= LONGEST_MS, 'must be at most 8760h, a year')
    .optional()
    .describe('how long its agents may run in total, or a task may be worked on, such as "30m"'),
});

/** An agent of the file by its name, a known agent, or a login of one: `claude@second`. */
const FallbackName = z
  .string()
  .max(130)
  .regex(/^[a-z0-9]([a-z0-9_-]*[a-z0-9])?(@[a-z0-9]([a-z0-9_-]*[a-z0-9])?)?$/, 'is not the name of an agent')
  .describe('an agent: codex, one of `agents`, or a login of one: claude@second');
const FallbackNames = z.array(FallbackName).min(1).max(8);

/** What follows when an account reaches its limit. */
export const OnLimitEntry = z.union([
  z.enum(['wait', 'ask']),
  z.strictObject({ fallback: FallbackNames.describe('the agents to go on with, the first that can be used') }),
  z.strictObject({ ask: FallbackNames.describe('the agents that you can choose when you are asked') }),
]);

/** In words for the schema. */
export const ON_LIMIT =
  'when an account reaches its limit: wait (default), ask, { ask: [codex] }, or { fallback: [codex, claude@second] }';

/** A budget in the core's form. */
export function budgetOf(entry: z.output<typeof BudgetEntry>): Budget {
  const { tokens, usd, turns, time } = entry;
  return {
    ...(tokens !== undefined && { tokens }),
    ...(usd !== undefined && { costUsd: usd }),
    ...(turns !== undefined && { turns }),
    ...(time !== undefined && { minutes: milliseconds(time) / 60_000 }),
  };
}
