import { isDeepStrictEqual } from 'node:util';
import { explainUnknown, findAgent } from '../agents/catalog.ts';
import { agentNamed, catalogNameOf, isOwnAgent } from '../core/agent-kinds.ts';
import type { AgentChoice, AgentExtras, AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { folderOfNewMember } from '../core/folder.ts';
import type { Fallback, OnLimit } from '../core/on-limit.ts';
import { sandboxOf } from '../core/sandbox.ts';
import type { Sandbox } from '../core/sandbox.ts';
import type { TeamState } from '../core/state.ts';
import { quote } from '../core/text.ts';
import { requireTeam } from '../core/view.ts';
import type { Caller } from './caller.ts';
import type { Services } from './operation.ts';

/** The agent that a caller wants for a new member. */
export interface AgentWish {
  readonly agent?: AgentSpec | undefined;
  /** The kind of agent, as free text. If it is the name of an agent, that agent is meant. */
  readonly agentType: string;
  /** Whether it runs in a sandbox. */
  readonly sandbox?: Sandbox | undefined;
  /** What is set beside the agent, whichever it is. */
  readonly extras?: AgentExtras;
}

/** The agent of a teammate that is about to start. Refuses one that cannot run in the teammate's work folder. */
export async function agentForTeammate(
  { ledger, daemon }: Pick<Services, 'ledger' | 'daemon'>,
  caller: Caller,
  { teamId, ...wish }: AgentWish & { readonly teamId: string; readonly cwd?: string | undefined },
): Promise<AgentSpec> {
  const { agent, cwd } = await ledger.view(teamId, (state) => {
    requireMaySet(caller, wish.extras ?? {});
    const chosen = {
      ...chooseAgent(state, caller, wish, () => daemon.defaultAgent()),
      ...definedIn(wish.extras ?? {}),
    };
    const lead = state.members.get(requireTeam(state).leadId);
    return { agent: chosen, cwd: folderOfNewMember({ ...wish, agent: chosen }, lead) };
  });
  daemon.requireAgents?.([{ spec: agent, cwd }]);
  return agent;
}

/**
 * The agent of a new teammate: what a person names, else what the team has under that name. If no agent is named, it is
 * the team's own choice, else the daemon's (`ours`): from its `config.yaml`, or the first installed one. A lead that is
 * an agent chooses among those that a person set up for the team; the first is its default.
 */
export function chooseAgent(state: TeamState, caller: Caller, wish: AgentWish, ours: () => AgentSpec): AgentSpec {
  const chosen = chooseProgram(state, caller, wish, ours);
  if (caller.scope === 'admin') return setSandbox(chosen, wish.sandbox ?? chosen.sandbox);
  // An agent may only close more: those that it starts have its own sandbox, if they have no other.
  const own = state.members.get(caller.memberId ?? '')?.agent?.sandbox;
  return setSandbox(chosen, chosen.sandbox ?? own ?? wish.sandbox);
}

function setSandbox(agent: AgentSpec, sandbox: Sandbox | undefined): AgentSpec {
  const { sandbox: _before, ...rest } = agent;
  return sandbox !== undefined && sandboxOf(sandbox) ? { ...rest, sandbox } : rest;
}

function chooseProgram(
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
      ? `${leadId} may start teammates with ${names.join(', ')}, not with ${quote(name)}`
      : `${leadId} has no agents for new teammates: ask a person to add teammates`,
  );
}

/**
 * The team's default: the first agent that was set up for it, else the lead's, else the first teammate's. A user's own
 * program was written for one member and does not count.
 */
function agentOfTeam(state: TeamState): AgentSpec | undefined {
  const { agents = {}, leadId } = requireTeam(state);
  const members = [state.members.get(leadId), ...state.members.values()];
  const theirs = members.flatMap((member) => member?.agent ?? []);
  return Object.values(agents)[0] ?? theirs.find((agent) => !isOwnAgent(agent));
}

/**
 * What follows when a limit is reached, with the agents of the team for the names in it. `claude@second` is the team's
 * agent with that account: without its folder, the name would mean the login of everybody else.
 */
export function chooseFallbacks(
  agents: AgentChoice | undefined,
  onLimit: OnLimit | undefined,
): { onLimit?: OnLimit | undefined } {
  if (!onLimit) return {};
  const { policy } = onLimit;
  return { onLimit: { policy, agents: onLimit.agents.map((one) => chooseFallback(agents ?? {}, one)) } };
}

/** The fallbacks of a member, with the agents of its team for the names in them. */
export async function fallbacksFor(
  ledger: Services['ledger'],
  teamId: string,
  { onLimit }: { onLimit?: OnLimit | undefined },
): Promise<{ onLimit?: OnLimit | undefined }> {
  return onLimit ? ledger.view(teamId, ({ team }) => chooseFallbacks(team?.agents, onLimit)) : {};
}

function chooseFallback(agents: AgentChoice, { name, agent }: Fallback): Fallback {
  if (!isDeepStrictEqual(agent, agentNamed(name))) return { name, agent };
  if (Object.hasOwn(agents, name)) return { name, agent: agents[name] ?? agent };
  const { account } = agent;
  if (account === undefined) {
    const unknown = explainUnknown(catalogNameOf(agent));
    if (unknown !== undefined) throw new TeamError('invalid', unknown);
    return { name, agent };
  }
  const set = Object.values(agents).find(
    (one) => catalogNameOf(one) === catalogNameOf(agent) && one.account === account,
  );
  if (set) return { name, agent: set };
  throw new TeamError(
    'invalid',
    `The team has no agent ${name}: give the whole agent, as {"name":"${account}","agent":{"kind":"${agent.kind}",` +
      `"account":"${account}","env":{…}}}, or add it to agents of the team file`,
  );
}

/** Only a person decides which program runs with the user's rights, never an agent. */
function requireMayRun(caller: Caller, agent: AgentSpec | undefined): void {
  if (caller.scope === 'admin' || !(agent?.command ?? agent?.args ?? agent?.env ?? agent?.mcp ?? agent?.team)) return;
  throw new TeamError(
    'not_allowed',
    'Only a person may choose the program: name an agent without command, args, env, mcp and team',
  );
}

/** A lead may say how hard a teammate thinks and what it reads, but not what it can do. */
function requireMaySet(caller: Caller, { mcp, tools }: AgentExtras): void {
  if (caller.scope === 'admin' || !(mcp ?? tools)) return;
  throw new TeamError(
    'not_allowed',
    'Only a person may choose the tools of a teammate: name an agent without mcp and tools',
  );
}

function definedIn(extras: AgentExtras): AgentExtras {
  return Object.fromEntries(Object.entries(extras).filter(([, value]) => value !== undefined));
}

/** Whether only a name is given. The team may then have a fuller spec under that name. */
function isNameOnly(agent: AgentSpec | undefined): boolean {
  return Object.keys(agent ?? {}).every((key) => key === 'kind' || key === 'name');
}
