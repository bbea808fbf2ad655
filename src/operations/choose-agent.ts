import { findAgent } from '../agents/catalog.ts';
import { agentNamed, isOwnAgent } from '../core/agent.ts';
import type { AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { folderOfNewMember } from '../core/folder.ts';
import type { TeamState } from '../core/state.ts';
import { quote } from '../core/text.ts';
import { requireTeam } from '../core/view.ts';
import type { Caller } from './caller.ts';
import type { Services } from './operation.ts';

/** What a caller says about the agent of a new member. */
export interface AgentWish {
  readonly agent?: AgentSpec | undefined;
  /** What kind of agent it is, in any words. Where it is the name of one, it is the one that is meant. */
  readonly agentType: string;
}

/** What runs a teammate that is about to be started. Refuses an agent that cannot run where the teammate will work. */
export async function agentForTeammate(
  { ledger, daemon }: Pick<Services, 'ledger' | 'daemon'>,
  caller: Caller,
  { teamId, ...wish }: AgentWish & { readonly teamId: string; readonly cwd?: string | undefined },
): Promise<AgentSpec> {
  const { agent, cwd } = await ledger.view(teamId, (state) => {
    const chosen = chooseAgent(state, caller, wish, () => daemon.defaultAgent());
    const lead = state.members.get(requireTeam(state).leadId);
    return { agent: chosen, cwd: folderOfNewMember({ ...wish, agent: chosen }, lead) };
  });
  daemon.requireAgents?.([{ spec: agent, cwd }]);
  return agent;
}

/**
 * What runs a new teammate: what a person says, else what the team has under that name. Where nobody says anything it is
 * the team's own choice, else the daemon's (`ours`): what its `config.yaml` says, or the first that is installed. A lead that
 * is an agent chooses among those that a person set up for the team, of which the first is its default.
 */
export function chooseAgent(
  state: TeamState,
  caller: Caller,
  { agent, agentType }: AgentWish,
  ours: () => AgentSpec,
): AgentSpec {
  const { agents = {}, leadId } = requireTeam(state);
  const name = agent?.name ?? agent?.kind ?? agentType;
  const isUnsaid = agent === undefined && agents[name] === undefined && findAgent(name) === undefined;
  if (caller.scope === 'admin') {
    const known = isNameOnly(agent) ? (agents[name] ?? agent) : agent;
    if (known) return known;
    return isUnsaid ? (agentOfTeam(state) ?? ours()) : agentNamed(name);
  }
  requireMayRun(caller, agent);
  const [first] = Object.values(agents);
  const chosen = isUnsaid ? first : agents[name];
  if (chosen) return chosen;
  const names = Object.keys(agents);
  throw new TeamError(
    'not_allowed',
    names.length > 0
      ? `${leadId} may bring in ${names.join(', ')}, not ${quote(name)}`
      : `No agents were set up for ${leadId} to bring in: a person adds teammates`,
  );
}

/**
 * What the team itself says: the first of the agents that were set up for it, what its lead runs on, what its first teammate
 * does. A program of the user's own was written for one member and is no answer for another.
 */
function agentOfTeam(state: TeamState): AgentSpec | undefined {
  const { agents = {}, leadId } = requireTeam(state);
  const members = [state.members.get(leadId), ...state.members.values()];
  const theirs = members.flatMap((member) => member?.agent ?? []);
  return Object.values(agents)[0] ?? theirs.find((agent) => !isOwnAgent(agent));
}

/** Which program runs as the user is for a person to say, not for an agent. */
function requireMayRun(caller: Caller, agent: AgentSpec | undefined): void {
  if (caller.scope === 'admin' || !(agent?.command ?? agent?.args ?? agent?.env)) return;
  throw new TeamError(
    'not_allowed',
    'Only a person says which program runs: name an agent without command, args and env',
  );
}

/** Then the team may know more of how it is set up. */
function isNameOnly(agent: AgentSpec | undefined): boolean {
  return Object.keys(agent ?? {}).every((key) => key === 'kind' || key === 'name');
}
