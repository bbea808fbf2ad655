import { explainUnknown, findAgent } from '../agents/catalog.ts';
import { agentNamed, catalogNameOf } from '../core/agent-kinds.ts';
import type { AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { entryOf } from './config.ts';
import type { DaemonConfig } from './config.ts';
import type { InstalledAgent } from './installed-agents.ts';
import { specOf } from './team-file/agents.ts';

/** The agent that plays native teammates of a name. */
export interface Player {
  /** A name, or its beginning and a star. */
  readonly pattern: string;
  readonly agent: AgentSpec;
  /** It plans first and its lead approves, even if the lead did not ask for that. */
  readonly plan?: boolean | undefined;
  /** Where the choice comes from. */
  readonly source: 'command line' | 'config.yaml' | 'name';
}

/**
 * The players of native teammates, in order of preference: from the command line, then from `config.yaml`, then
 * installed agents for the teammates named after them. Claude Code itself plays all others.
 */
export function choosePlayers(
  chosen: Readonly<Record<string, string>>,
  { teammates = {} }: DaemonConfig,
  installed: readonly InstalledAgent[],
): Player[] {
  const playedBy = (agent: string): Pick<Player, 'agent' | 'plan'> => {
    const set = Object.hasOwn(teammates, agent) ? teammates[agent] : undefined;
    if (set === undefined) return { agent: known(agentNamed(agent)) };
    const isPlanning = typeof set === 'object' && 'plan' in set && set.plan === 'required';
    const spec = known(specOf(entryOf(set), undefined), `teammates of config.yaml: ${agent}: `);
    return { agent: spec, ...(isPlanning && { plan: true }) };
  };
  const named = installed.filter(({ name, path }) => path !== undefined && !findAgent(name)?.isClaudeCode);
  return [
    ...Object.entries(chosen).map(([pattern, agent]): Player => ({
      pattern,
      ...playedBy(agent),
      source: 'command line',
    })),
    ...Object.keys(teammates).map((pattern): Player => ({ pattern, ...playedBy(pattern), source: 'config.yaml' })),
    ...named.flatMap(({ name }) =>
      [name, `${name}-*`].map((pattern): Player => ({ pattern, agent: agentNamed(name), source: 'name' })),
    ),
  ];
}

/** The agent, if its name is known. Otherwise a misspelled name would only be noticed by a teammate that does not start. */
function known(agent: AgentSpec, where = ''): AgentSpec {
  const unknown = agent.command === undefined ? explainUnknown(catalogNameOf(agent)) : undefined;
  if (unknown !== undefined) throw new TeamError('invalid', `${where}${unknown}`);
  return agent;
}
