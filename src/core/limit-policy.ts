import { catalogNameOf, hasProcess, isNativeAgent, isTeamAgent } from './agent-kinds.ts';
import type { AgentSpec } from './agent.ts';
import { TeamError } from './errors.ts';
import type { OnLimit, StandIn } from './on-limit.ts';

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
