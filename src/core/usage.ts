import { z } from 'zod';
import { Slug, TaskId } from './text.ts';

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0);

/** What was used, by a turn or in sum. */
export const Usage = z.object({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  turns: count,
  /** US dollars. */
  costUsd: z.number().min(0).default(0),
  /** Some of the cost was worked out from a price table. */
  estimated: z.boolean().default(false),
});
export type Usage = z.output<typeof Usage>;

/** Nothing used yet. */
export const NO_USAGE: Usage = Usage.parse({});

/** What a member used, and for which task. */
export const RecordUsageInput = z.strictObject({ memberId: Slug, taskId: TaskId.optional(), usage: Usage });
export type RecordUsageInput = z.output<typeof RecordUsageInput>;

/** The sum of two. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    turns: a.turns + b.turns,
    costUsd: a.costUsd + b.costUsd,
    estimated: a.estimated || b.estimated,
  };
}
