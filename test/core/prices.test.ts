import { expect, test } from 'vitest';
import { withCost } from '../../src/core/prices.ts';
import { NO_USAGE } from '../../src/core/usage.ts';

const used = { ...NO_USAGE, inputTokens: 1_000_000, cacheReadTokens: 1_000_000, outputTokens: 100_000, turns: 1 };

test('usage with tokens only gets a cost that is marked as an estimate', () => {
  expect(withCost(used, 'gpt-5.1-codex')).toEqual({ ...used, costUsd: 1.25 + 0.125 + 1, estimated: true });
  expect(withCost(used, 'openai/gpt-5.2')).toMatchObject({ costUsd: 1.75 + 0.175 + 1.4 });
  expect(withCost(used, 'gpt-5.4-mini-2026').costUsd).toBeLessThan(withCost(used, 'gpt-5.4').costUsd);
});

test('a reported cost stays as it is, and an unknown model gets none', () => {
  expect(withCost({ ...used, costUsd: 3 }, 'gpt-5')).toEqual({ ...used, costUsd: 3 });
  expect(withCost(used, 'a-model-of-my-own')).toEqual(used);
  expect(withCost(used, undefined)).toEqual(used);
  expect(withCost(NO_USAGE, 'gpt-5')).toEqual(NO_USAGE);
});
