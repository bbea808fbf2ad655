import { z } from 'zod';
import { Slug, TaskId } from './fields.ts';
import { USAGE_COST, USAGE_COUNT } from './limits.ts';

/** The usage of a turn, or a sum. */
export const Usage = usageUpTo(Number.MAX_SAFE_INTEGER, Number.MAX_VALUE);
export type Usage = z.output<typeof Usage>;

/** No usage yet. */
export const NO_USAGE: Usage = Usage.parse({});

/** How full an agent's context window is, in tokens. */
export const ContextUse = z.object({
  used: z.number().int().min(0).max(USAGE_COUNT),
  size: z.number().int().min(1).max(USAGE_COUNT),
});
export type ContextUse = z.output<typeof ContextUse>;

/** A member's usage, for which task, and how full its context window is, if its agent reports that. */
export const RecordUsageInput = z.strictObject({
  memberId: Slug.describe('the member'),
  taskId: TaskId.optional().describe('the task it was used for'),
  usage: usageUpTo(USAGE_COUNT, USAGE_COST).describe('tokens and money'),
  context: ContextUse.optional().describe('how full its conversation is, as JSON: {"used":90000,"size":200000}'),
});
export type RecordUsageInput = z.output<typeof RecordUsageInput>;

/** The data of the event about usage. */
export const USAGE_EVENT_DATA = {
  'usage:recorded': z.object({
    memberId: z.string(),
    taskId: z.string().optional(),
    usage: Usage,
    context: ContextUse.optional(),
    /** The team inside the member that used it. */
    inner: z.string().optional(),
  }),
} as const;

function usageUpTo(maxCount: number, maxCost: number) {
  const count = z.number().int().min(0).max(maxCount).default(0);
  return z.object({
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    turns: count,
    /** US dollars. */
    costUsd: z.number().min(0).max(maxCost).default(0),
    /** Some of the cost was estimated from a price table. */
    estimated: z.boolean().default(false),
  });
}

/** The sum of two usages. */
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

/** What the first usage has more than the second. Never negative. */
export function subtractUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: Math.max(0, a.inputTokens - b.inputTokens),
    outputTokens: Math.max(0, a.outputTokens - b.outputTokens),
    cacheReadTokens: Math.max(0, a.cacheReadTokens - b.cacheReadTokens),
    cacheWriteTokens: Math.max(0, a.cacheWriteTokens - b.cacheWriteTokens),
    turns: Math.max(0, a.turns - b.turns),
    costUsd: Math.max(0, a.costUsd - b.costUsd),
    estimated: a.estimated,
  };
}

/** Whether nothing was used. */
export function isNoUsage({ estimated: _estimated, ...amounts }: Usage): boolean {
  return Object.values(amounts).every((amount) => amount === 0);
}
