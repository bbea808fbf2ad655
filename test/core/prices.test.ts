import { expect, test } from 'vitest';
import { withCost } from '../../src/core/prices.ts';
import { NO_USAGE } from '../../src/core/usage.ts';

const used = { ...NO_USAGE, inputTokens: 1_000_000, cacheReadTokens: 1_000_000, outputTokens: 100_000, turns: 1 };

test('what an agent reports in tokens alone gets a cost that is marked as an estimate', () => {
  expect(withCost(used, 'gpt-5.1-codex')).toEqual({ ...used, costUsd: 1.25 + 0.125 + 1, estimated: true });
  expect(withCost(used, 'openai/gpt-5.2')).toMatchObject({ costUsd: 1.75 + 0.175 + 1.4 });
  expect(withCost(used, 'gpt-5.4-mini-2026').costUsd).toBeLessThan(withCost(used, 'gpt-5.4').costUsd);
});

test('a cost that the agent reports stays as it is, and of an unknown model none is made up', () => {
  expect(withCost({ ...used, costUsd: 3 }, 'gpt-5')).toEqual({ ...used, costUsd: 3 });
  expect(withCost(used, 'a-model-of-my-own')).toEqual(used);
  expect(withCost(used, undefined)).toEqual(used);
  expect(withCost(NO_USAGE, 'gpt-5')).toEqual(NO_USAGE);
});
