import type { Usage } from '../../core/usage.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { ModelUsages, Result, Said } from './lines.ts';

/** What the conversation fills of the model's window. */
export interface Context {
  readonly used: number;
  readonly size: number;
}

/** Turns the sums that Claude Code reports into what each turn used. */
export interface Meter {
  /** The tokens of the newest answer, which tell how full the conversation is. */
  answered(message: Extract<Said, { type: 'assistant' }>['message']): void;
  /** What was used since the last result. */
  read(result: Result): { usage: Omit<Usage, 'turns'>; context?: Context };
}

/**
 * Starts at nothing: also a resumed session counts from 0 again. The fill of the context is taken from the newest answer,
 * as its provider counted it; asking Claude Code for it would cost ten requests to the provider each time (measured).
 */
export function newMeter(): Meter {
  let last = NO_USAGE;
  let newest: { model: string; used: number } | undefined;
  return {
    answered({ model, usage }) {
      if (!usage) return;
      const counts = [usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens];
      const used = counts.reduce((sum: number, count) => sum + (count ?? 0), usage.output_tokens ?? 0);
      if (used > 0) newest = { model, used };
    },
    read({ modelUsage = {}, total_cost_usd: costUsd }) {
      const total = { ...sumOf(modelUsage), costUsd };
      const used = (key: keyof typeof total): number => Math.max(0, total[key] - last[key]);
      const usage = {
        inputTokens: used('inputTokens'),
        outputTokens: used('outputTokens'),
        cacheReadTokens: used('cacheReadTokens'),
        cacheWriteTokens: used('cacheWriteTokens'),
        costUsd: used('costUsd'),
        estimated: false,
      };
      last = { ...NO_USAGE, ...total };
      const size = newest && modelUsage[newest.model]?.contextWindow;
      return { usage, ...(newest && size && { context: { used: newest.used, size } }) };
    },
  };
}

function sumOf(models: ModelUsages) {
  const sum = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  for (const model of Object.values(models)) {
    sum.inputTokens += model.inputTokens;
    sum.outputTokens += model.outputTokens;
    sum.cacheReadTokens += model.cacheReadInputTokens;
    sum.cacheWriteTokens += model.cacheCreationInputTokens;
  }
  return sum;
}
