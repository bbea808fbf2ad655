import { AGENTS, findAgent } from '../agents/catalog.ts';
import { agentNamed } from '../core/agent.ts';
import type { AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { entryOf } from './config.ts';
import type { DaemonConfig } from './config.ts';
import { specOf } from './team-file/agents.ts';

/** In this order they are taken where nobody says which: that of `troupe agents`, without second ways to run the same. */
const ORDER = Object.keys(AGENTS).filter((name) => findAgent(name)?.variantOf === undefined);

/**
 * What runs a teammate where neither the caller nor its team says: `agent` of `config.yaml`, else the first that is installed.
 * Where there is none it says what to do about it.
 */
export function defaultAgent({ agent }: DaemonConfig, installed: readonly string[]): AgentSpec {
  if (agent !== undefined) return specOf(entryOf(agent), undefined);
  const first = ORDER.find((name) => installed.includes(name));
  if (first !== undefined) return agentNamed(first);
  throw new TeamError(
    'invalid',
    `There is no agent to run it with: none of ${ORDER.join(', ')} is installed. Install one (${AGENTS.claude.install}; ` +
      `troupe agents has the others), or set agent in config.yaml`,
    { facts: { option: { field: 'agent', effect: 'say which it is' } } },
  );
}
