import { AGENTS, findAgent } from '../agents/catalog.ts';
import { agentNamed } from '../core/agent-kinds.ts';
import type { AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { entryOf } from './config.ts';
import type { DaemonConfig } from './config.ts';
import { specOf } from './team-file/agents.ts';

/** The order of preference if nobody names an agent: that of `troupe agents`, without variants. */
const ORDER = Object.keys(AGENTS).filter((name) => findAgent(name)?.variantOf === undefined);

/**
 * The agent of a teammate if neither the caller nor the team names one: `agent` of `config.yaml`, else the first
 * installed one. If there is none, the error says what to do.
 */
export function defaultAgent({ agent }: DaemonConfig, installed: readonly string[]): AgentSpec {
  if (agent !== undefined) return specOf(entryOf(agent), undefined);
  const first = ORDER.find((name) => installed.includes(name));
  if (first !== undefined) return agentNamed(first);
  throw new TeamError(
    'invalid',
    `No agent is installed (${ORDER.join(', ')}). Install one (${AGENTS.claude.install}; ` +
      `troupe agents lists the others), or set agent in config.yaml`,
    { facts: { option: { field: 'agent', effect: 'name one' } } },
  );
}
