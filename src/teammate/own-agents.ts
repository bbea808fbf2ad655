import type { Agent } from '../agents/agent.ts';
import type { AgentSpec } from '../core/agent.ts';

/** Agents that are objects of this process, by the name under which a teammate uses them. */
export type OwnAgents = Readonly<Record<string, Agent>>;

/** The specification of the agent with this name, for a member's record. */
export function findOwn(agents: OwnAgents, name: string): AgentSpec | undefined {
  return Object.hasOwn(agents, name) ? { kind: 'function', name } : undefined;
}

/** The object that a member's record names. */
export function ownAgentOf(agents: OwnAgents, { kind, name = '' }: AgentSpec): Agent | undefined {
  return kind === 'function' && Object.hasOwn(agents, name) ? agents[name] : undefined;
}
