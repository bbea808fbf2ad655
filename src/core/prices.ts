import type { Usage } from './usage.ts';

/** US dollars per million tokens: read, read from a cache, written. */
type Price = readonly [input: number, cached: number, output: number];

/**
 * By prefix of the model's name, longest first; as of May 2026. Only for agents that report tokens but no cost. Prices
 * change, so costs from this table are marked as estimates.
 */
const PRICES: readonly (readonly [name: string, price: Price])[] = [
  ['gpt-5.5', [5, 0.5, 30]],
  ['gpt-5.4-mini', [0.75, 0.075, 4.5]],
  ['gpt-5.4', [2.5, 0.25, 15]],
  ['gpt-5.3', [1.75, 0.175, 14]],
  ['gpt-5.2', [1.75, 0.175, 14]],
  ['gpt-5.1-codex-mini', [0.25, 0.025, 2]],
  ['gpt-5.1', [1.25, 0.125, 10]],
  ['gpt-5-nano', [0.05, 0.005, 0.4]],
  ['gpt-5-mini', [0.25, 0.025, 2]],
  ['gpt-5', [1.25, 0.125, 10]],
  ['gemini-3', [2, 0.2, 12]],
  ['gemini-2.5-flash', [0.3, 0.075, 2.5]],
  ['gemini-2.5-pro', [1.25, 0.31, 10]],
];

/** The usage with a cost: as reported, else from the model's price if we know it. */
export function withCost(usage: Usage, model: string | undefined): Usage {
  if (usage.costUsd > 0 || model === undefined) return usage;
  const name = model.slice(model.lastIndexOf('/') + 1);
  const price = PRICES.find(([beginning]) => name.startsWith(beginning))?.[1];
  if (!price) return usage;
  const [input, cached, output] = price;
  const read = (usage.inputTokens + usage.cacheWriteTokens) * input;
  const costUsd = (read + usage.cacheReadTokens * cached + usage.outputTokens * output) / 1e6;
  return costUsd > 0 ? { ...usage, costUsd, estimated: true } : usage;
}
