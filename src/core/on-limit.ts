import { z } from 'zod';
import { AgentInput } from './agent-input.ts';
import { agentNamed } from './agent-kinds.ts';
import { AgentSpec } from './agent.ts';
import { lineOf } from './fields.ts';

/** The most agents that can stand in for one. */
const FALLBACKS = 8;

/** An agent that can stand in for a member's own, and its name in the team. */
export const Fallback = z.strictObject({ name: lineOf(130).min(1), agent: AgentSpec });
export type Fallback = z.output<typeof Fallback>;

/**
 * What follows when the limit of a member's account is reached: it waits for the reset, a person is asked, or it goes on
 * with the first of these agents whose account can be used. With `ask`, the agents are what a person can choose from.
 */
export const OnLimit = z.strictObject({
  policy: z.enum(['wait', 'ask', 'fallback']),
  agents: z.array(Fallback).max(FALLBACKS),
});
export type OnLimit = z.output<typeof OnLimit>;

/** The same in any form that people write: `wait`, `ask`, `{ fallback: [codex] }`, `{ ask: [codex] }`. */
export const OnLimitInput = z.preprocess(
  readOnLimit,
  z
    .strictObject({
      policy: OnLimit.shape.policy,
      agents: z.array(z.strictObject({ name: Fallback.shape.name, agent: AgentInput })).max(FALLBACKS),
    })
    .refine(({ policy, agents }) => policy !== 'fallback' || agents.length > 0, 'names no agent')
    .refine(({ policy, agents }) => policy !== 'wait' || agents.length === 0, 'needs no agents to wait'),
);

function readOnLimit(given: unknown): unknown {
  if (given === 'wait' || given === 'ask') return { policy: given, agents: [] };
  if (typeof given !== 'object' || given === null || 'policy' in given) return given;
  const [entry, ...more] = Object.entries(given);
  if (!entry || more.length > 0 || (entry[0] !== 'fallback' && entry[0] !== 'ask')) return given;
  const [policy, names] = entry as [string, unknown];
  return { policy, agents: Array.isArray(names) ? names.map(readFallback) : names };
}

function readFallback(given: unknown): unknown {
  return typeof given === 'string' ? { name: given, agent: agentNamed(given) } : given;
}

/** The agent that a member works with instead of its own, and what it needs to go back. */
export const StandIn = z.object({
  /** The name of the fallback. */
  name: z.string(),
  since: z.number().int(),
  own: z.object({
    agent: AgentSpec,
    /** Its conversation, which goes on when the member is back. */
    sessionId: z.string(),
    model: z.string().optional(),
    account: z.string().optional(),
  }),
});
export type StandIn = z.output<typeof StandIn>;
