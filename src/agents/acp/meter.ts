import type { PromptResponse, UsageUpdate } from '@agentclientprotocol/sdk/unstable';
import { z } from 'zod';
import { addUsage, NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import type { AgentEvent } from '../agent.ts';
import type { AcpAgent } from './agents.ts';

const Quota = z.looseObject({
  quota: z.looseObject({ token_count: z.looseObject({ input_tokens: z.number(), output_tokens: z.number() }) }),
});

/** Counts what the turns of one session use, from wherever its agent tells it. */
export class Meter {
  readonly #source: AcpAgent['usage'];
  #context: { used: number; size: number } | undefined;
  /** Agents tell the cost of the whole session. */
  #cost: { told: number; counted: number } | undefined;
  #turn: Usage = NO_USAGE;
  /** What each call to the model in this turn was given, as far as it was told. */
  #calls: number[] = [];

  constructor(source: AcpAgent['usage'], isNew: boolean) {
    this.#source = source;
    // What a session cost before it was resumed was counted then.
    if (isNew) this.#cost = { told: 0, counted: 0 };
  }

  begin(): void {
    this.#turn = NO_USAGE;
    this.#calls = [];
  }

  /** The context after a call to the model. */
  hear({ used, size, cost }: UsageUpdate): void {
    this.#context = { used, size };
    this.#calls.push(used);
    if (cost?.currency !== 'USD') return;
    this.#cost = { told: cost.amount, counted: this.#cost?.counted ?? cost.amount };
  }

  /** A prompt was answered. */
  add(response: PromptResponse): void {
    this.#turn = addUsage(this.#turn, this.#read(response));
  }

  /** What the turn used, as an event; nothing where the agent told nothing. */
  end(): AgentEvent | undefined {
    const spent = this.#cost ? Math.max(0, this.#cost.told - this.#cost.counted) : 0;
    if (this.#cost) this.#cost = { told: this.#cost.told, counted: this.#cost.told };
    if (this.#turn === NO_USAGE && spent === 0 && !this.#context) return undefined;
    // The difference of two sums has digits that nobody spent.
    const usage = { ...this.#turn, turns: 1, costUsd: Math.round(spent * 1e9) / 1e9 };
    return { type: 'usage', usage, ...(this.#context && { context: this.#context }) };
  }

  #read({ usage, _meta }: PromptResponse): Usage {
    if (this.#source === 'quota') {
      const quota = Quota.safeParse(_meta);
      if (!quota.success) return NO_USAGE;
      const { input_tokens, output_tokens } = quota.data.quota.token_count;
      return { ...NO_USAGE, inputTokens: input_tokens, outputTokens: output_tokens };
    }
    if (!usage) return NO_USAGE;
    // Told of the last call alone: what the ones before were given is known from the context after each.
    const before = this.#source === 'last call' ? this.#calls.slice(0, -1) : [];
    return {
      ...NO_USAGE,
      inputTokens: before.reduce((sum, one) => sum + one, usage.inputTokens),
      outputTokens: usage.outputTokens,
      cacheReadTokens: usage.cachedReadTokens ?? 0,
      cacheWriteTokens: usage.cachedWriteTokens ?? 0,
    };
  }
}
