import { agentNamed } from '../core/agent.ts';
import type { AgentSpec } from '../core/agent.ts';
import { entryOf } from './config.ts';
import type { DaemonConfig } from './config.ts';
import type { InstalledAgent } from './installed-agents.ts';
import { specOf } from './team-file/agents.ts';

/** Who plays the native teammates of a name. */
export interface Player {
  /** A name, or the beginning of one and a star. */
  readonly pattern: string;
  readonly agent: AgentSpec;
  /** It plans first, and its lead approves, also where that one did not ask for it. */
  readonly plan?: boolean | undefined;
  /** Who said so. */
  readonly source: 'command line' | 'config.yaml' | 'name';
}

/**
 * Who plays native teammates, by their names, the first that fits: as the command line says, then as a person's `config.yaml` does, then an
 * agent that is installed here plays those that are called after it. All others are Claude Code itself.
 */
export function choosePlayers(
  chosen: Readonly<Record<string, string>>,
  { teammates = {} }: DaemonConfig,
  installed: readonly InstalledAgent[],
): Player[] {
  const playedBy = (agent: string): Pick<Player, 'agent' | 'plan'> => {
    const set = Object.hasOwn(teammates, agent) ? teammates[agent] : undefined;
    if (set === undefined) return { agent: agentNamed(agent) };
    const isPlanning = typeof set === 'object' && 'plan' in set && set.plan === 'required';
    return { agent: specOf(entryOf(set), undefined), ...(isPlanning && { plan: true }) };
  };
  const named = installed.filter(({ name, path }) => path !== undefined && !name.startsWith('claude'));
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
