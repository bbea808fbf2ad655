import type { AgentSpec, McpServer } from '../core/agent.ts';
import type { StartOptions } from './agent.ts';

/** The servers of a member's own that it has now. What a server does cannot be limited, so a mode that forbids changes has none. */
export function ownServers({ mode, servers = {} }: Pick<StartOptions, 'mode' | 'servers'>): [string, McpServer][] {
  return mode === 'plan' || mode === 'delegate' ? [] : Object.entries(servers);
}

/** Those of an agent's tools that its member does not have, if these are all that there are. */
export function toolsWithout(all: readonly string[], { allow, deny = [] }: AgentSpec['tools'] = {}): string[] {
  return all.filter((tool) => deny.includes(tool) || (allow && !allow.includes(tool)));
}
