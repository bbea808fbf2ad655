import { describe, expect, test } from 'vitest';
import { paidAfterSending, peerPaidAfterSending, pricesOf } from '../../src/core/message-price.ts';
import { withCost } from '../../src/core/prices.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { requireMember } from '../../src/core/view.ts';
import { teamOf } from './stage.ts';

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

describe('the debt of a sender', () => {
  const HOUR = 3_600_000;
  const at = Date.UTC(2026, 0, 1);

  test('grows by the price of each message, and is none if a clock was set back', () => {
    const { state } = teamOf('ann');
    const ann = requireMember(state, 'ann');
    const { price, burst } = pricesOf(state);
    const paid = (sendsPaidAt: number | undefined) => paidAfterSending(state, { ...ann, sendsPaidAt }, at) - at;
    expect([undefined, at - 1, at, at + 500, at + burst, at + burst + 1].map(paid)).toEqual([
      price,
      price,
      price,
      price + 500,
      price + burst,
      price,
    ]);
  });

  test('is kept for each other team', () => {
    const { state } = teamOf();
    const { team } = state;
    const price = peerPaidAfterSending(state, 'beta', at) - at;
    const paid = (beta: number) => {
      if (team) state.team = { ...team, peersPaidAt: { beta } };
      return [peerPaidAfterSending(state, 'beta', at) - at, peerPaidAfterSending(state, 'gamma', at) - at];
    };
    expect(paid(at - 1)).toEqual([price, price]);
    expect(paid(at + 500)).toEqual([price + 500, price]);
    expect(paid(at + HOUR)).toEqual([price + HOUR, price]);
    expect(paid(at + HOUR + 1)).toEqual([price, price]);
  });
});
