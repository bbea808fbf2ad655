import { z } from 'zod';
import { NO_USAGE } from '../core/usage.ts';
import type { Usage } from '../core/usage.ts';

/** Tokens as Anthropic counts them, both in Claude Code's output and in its session record. */
export const Tokens = z.object({
  input_tokens: z.number().nullish(),
  output_tokens: z.number().nullish(),
  cache_read_input_tokens: z.number().nullish(),
  cache_creation_input_tokens: z.number().nullish(),
});
export type Tokens = z.output<typeof Tokens>;

/** The same in our words, without a price. */
export function usageOf(tokens: Tokens): Usage {
  return {
    ...NO_USAGE,
    inputTokens: tokens.input_tokens ?? 0,
    outputTokens: tokens.output_tokens ?? 0,
    cacheReadTokens: tokens.cache_read_input_tokens ?? 0,
    cacheWriteTokens: tokens.cache_creation_input_tokens ?? 0,
  };
}
