import type { PromptResponse, UsageUpdate } from '@agentclientprotocol/sdk/unstable';
import { z } from 'zod';
import { addUsage, NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import type { AgentEvent } from '../agent.ts';
import type { AcpAgent } from './agents.ts';

const Quota = z.looseObject({
  quota: z.looseObject({ token_count: z.looseObject({ input_tokens: z.number(), output_tokens: z.number() }) }),
});

/** Counts the usage of one session's turns, from wherever its agent reports it. */
export class Meter {
  readonly #source: AcpAgent['usage'];
  #context: { used: number; size: number } | undefined;
  /** Agents report the cost of the whole session. */
  #cost: { told: number; counted: number } | undefined;
  #turn: Usage = NO_USAGE;
  /** The context size after each call to the model in this turn, if reported. */
  #calls: number[] = [];

  constructor(source: AcpAgent['usage'], isNew: boolean) {
    this.#source = source;
    // The cost before a resume was already counted.
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

  /** The usage of the turn as an event; undefined if the agent reported nothing. */
  end(): AgentEvent | undefined {
    const spent = this.#cost ? Math.max(0, this.#cost.told - this.#cost.counted) : 0;
    if (this.#cost) this.#cost = { told: this.#cost.told, counted: this.#cost.told };
    if (this.#turn === NO_USAGE && spent === 0 && !this.#context) return undefined;
    // Rounds away the floating-point noise of the difference.
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
    // Only the last call is reported; the input of the earlier ones is the context size after each.
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
