import type { Agent } from '../agents/agent.ts';
import type { AgentSpec } from '../core/agent.ts';

/** Agents that are objects of this process, by the name under which a teammate asks for one. */
export type OwnAgents = Readonly<Record<string, Agent>>;

/** The agent of this name, as it goes on a member's record. */
export function findOwn(agents: OwnAgents, name: string): AgentSpec | undefined {
  return Object.hasOwn(agents, name) ? { kind: 'function', name } : undefined;
}

/** The object that a member's record means. */
export function ownAgentOf(agents: OwnAgents, { kind, name = '' }: AgentSpec): Agent | undefined {
  return kind === 'function' && Object.hasOwn(agents, name) ? agents[name] : undefined;
}
