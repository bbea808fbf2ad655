import { addUsage, NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { usageOf } from '../tokens.ts';
import type { Result, Said } from './lines.ts';

/** How much of the model's window the conversation fills. */
export interface Context {
  readonly used: number;
  readonly size: number;
}

/** Counts the usage of a session. */
export interface Meter {
  /** The tokens of the newest answer, which show how full the conversation is. */
  answered(message: Extract<Said, { type: 'assistant' }>['message']): void;
  /** Adds the usage of a result. */
  add(result: Result): void;
  /** The usage since the last call. */
  take(): { usage: Usage; context?: Context };
}

/**
 * Counts from result to result. The totals in results are useless: a session that ended normally and is resumed
 * continues its old ones, a killed one starts at zero. Old versions have only totals for the cost; then the cost of the
 * first turn of a resumed session is unknown. The fill of the context comes from the newest answer, as its provider
 * counted it. Asking Claude Code for it costs ten requests to the provider each time (measured).
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

/** The usage of one model. */
export function shareOf(share: NonNullable<Result['modelUsage']>[string]): Usage {
  return {
    ...NO_USAGE,
    inputTokens: share.inputTokens,
    outputTokens: share.outputTokens,
    cacheReadTokens: share.cacheReadInputTokens,
    cacheWriteTokens: share.cacheCreationInputTokens,
    costUsd: share.costUSD,
  };
}
