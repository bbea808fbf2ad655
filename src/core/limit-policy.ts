import { hasProcess, isNativeAgent, isTeamAgent } from './agent-kinds.ts';
import { TeamError } from './errors.ts';
import type { OnLimit } from './on-limit.ts';

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
