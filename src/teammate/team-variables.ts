import { findAgent } from '../agents/catalog.ts';
import { catalogNameOf, isNativeAgent } from '../core/agent-kinds.ts';
import type { AgentSpec } from '../core/agent.ts';
import { namesTaken } from '../core/variables.ts';
import type { TeamVariables } from '../core/variables.ts';
import { BASE } from './environment.ts';

/** The names of a team's variables. Only their values leave the caller's environment. */
export function variablesOf(
  agents: readonly AgentSpec[],
  hooks: readonly { env?: readonly string[] | undefined }[],
): TeamVariables {
  const rows = agents.flatMap((spec) => findAgent(catalogNameOf(spec)) ?? []);
  const providers = rows.flatMap(({ env, clouds = [] }) => [
    ...env,
    ...clouds.flatMap((cloud) => [cloud.chosenBy, ...cloud.env]),
  ]);
  // A native teammate lives in the files that the daemon looks at.
  const isDaemons = (name: string): boolean => name === 'CLAUDE_CONFIG_DIR' && agents.some(isNativeAgent);
  return {
    usual: [...new Set([...BASE, 'LC_*', ...providers, ...hooks.flatMap(({ env = [] }) => env)])].filter(
      (name) => !isDaemons(name),
    ),
    named: [...new Set(agents.flatMap(namesTaken))],
  };
}
