import { z } from 'zod';
import { agentNamed, AgentInput, AgentSpec, catalogNameOf, hasProcess, isNativeAgent, isTeamAgent } from './agent.ts';
import { TeamError } from './errors.ts';
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

/** The policy that counts for a member: its own, else that of its team. */
export function onLimitOf(
  member: { readonly onLimit?: OnLimit | undefined } | undefined,
  team: { readonly onLimit?: OnLimit | undefined } | undefined,
): OnLimit {
  return member?.onLimit ?? team?.onLimit ?? { policy: 'wait', agents: [] };
}

/** Refuses agents that cannot take over: a daemon must be able to start them in the member's place. */
export function requireFallbacks({ agents }: OnLimit): void {
  const names = new Set<string>();
  for (const { name, agent } of agents) {
    if (names.has(name)) throw new TeamError('invalid', `onLimit names ${name} twice: remove one`);
    names.add(name);
    if (hasProcess(agent) && !isNativeAgent(agent) && !isTeamAgent(agent)) continue;
    throw new TeamError(
      'invalid',
      isNativeAgent(agent)
        ? `${name} cannot stand in: it works in a terminal and a native team of its own; name claude instead`
        : isTeamAgent(agent)
          ? `${name} cannot stand in: it is a team, whose members have limits of their own`
          : `${name} cannot stand in: it is a function of another process, which no daemon can start`,
    );
  }
}

/** A policy in words: `fallback: codex, claude@second`. */
export function wordOnLimit({ policy, agents }: OnLimit): string {
  return agents.length === 0 ? policy : `${policy}: ${agents.map(({ name }) => name).join(', ')}`;
}

/** The agent of a member in one word, and whose place it takes: `codex (for claude)`. */
export function agentNameOf({
  agent,
  standIn,
}: {
  readonly agent?: AgentSpec | undefined;
  readonly standIn?: StandIn | undefined;
}): string {
  if (!agent) return '';
  if (!standIn) return agent.name ?? agent.kind;
  return `${standIn.name} (for ${catalogNameOf(standIn.own.agent)})`;
}
