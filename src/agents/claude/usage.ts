import { addUsage, NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { usageOf } from '../tokens.ts';
import type { Result, Said } from './lines.ts';

/** What the conversation fills of the model's window. */
export interface Context {
  readonly used: number;
  readonly size: number;
}

/** Counts what a session uses. */
export interface Meter {
  /** The tokens of the newest answer, which tell how full the conversation is. */
  answered(message: Extract<Said, { type: 'assistant' }>['message']): void;
  /** Adds what a result reports. */
  add(result: Result): void;
  /** What was added since it was last asked. */
  take(): { usage: Usage; context?: Context };
}

/**
 * Counts from result to result. The sums that results also bring are no use: a session that ended well and is resumed goes
 * on with its old ones, one that was killed begins at nothing. Old versions have only those for money; then what the first
 * turn of a resumed session cost is not known. The fill of the context is taken from the newest answer, as its provider
 * counted it; asking Claude Code for it costs ten requests to the provider each time (measured).
 */
export function newMeter({ resumes }: { resumes: boolean }): Meter {
  let taken = NO_USAGE;
  let lastCost = resumes ? undefined : 0;
  let newest: { model: string; used: number } | undefined;
  let size: number | undefined;
  return {
    answered({ model, usage }) {
      if (!usage) return;
      const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usageOf(usage);
      const used = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
      if (used > 0) newest = { model, used };
    },
    add(result) {
      const { usage, modelUsage = {}, total_cost_usd: cost, model_usage_since_last_result: since } = result;
      if (since) for (const share of Object.values(since)) taken = addUsage(taken, shareOf(share));
      else taken = addUsage(taken, { ...usageOf(usage ?? {}), costUsd: Math.max(0, cost - (lastCost ?? cost)) });
      lastCost = cost;
      size = (newest && modelUsage[newest.model]?.contextWindow) ?? size;
    },
    take() {
      const usage = taken;
      taken = NO_USAGE;
      return { usage, ...(newest && size !== undefined && { context: { used: newest.used, size } }) };
    },
  };
}

function shareOf(share: NonNullable<Result['modelUsage']>[string]): Usage {
  return {
    ...NO_USAGE,
    inputTokens: share.inputTokens,
    outputTokens: share.outputTokens,
    cacheReadTokens: share.cacheReadInputTokens,
    cacheWriteTokens: share.cacheCreationInputTokens,
    costUsd: share.costUSD,
  };
}
