import type { AgentSpec } from '../../core/agent.ts';
import type { MemberRecord, TeamState } from '../../core/state.ts';
import type { HostCard } from '../../journal/hosts.ts';

/** What runs programs of the user's own, which any machine may have. */
const ANYWHERE: readonly string[] = ['exec'];

/** Whether a daemon may run a member: by its name, its labels, and the agent that it has. */
export function mayRun(host: HostCard, member: MemberRecord): boolean {
  if (!member.agent || (member.host !== undefined && member.host !== host.name)) return false;
  if (member.labels?.some((label) => !host.labels.includes(label))) return false;
  const agent = agentOf(member.agent);
  return member.agent.command !== undefined || ANYWHERE.includes(agent) || host.agents.includes(agent);
}

/** The members of a team that wait for a daemon. */
export function unplaced(state: TeamState): MemberRecord[] {
  if (state.team?.status !== 'active') return [];
  return [...state.members.values()].filter(
    ({ agent, status, hostId }) =>
      agent !== undefined && agent.kind !== 'function' && status === 'spawning' && hostId === undefined,
  );
}

/** Whether a member is live and a daemon's to run. One that was lost and waits for a machine is nobody's. */
export function runsOn(hostId: string, member: MemberRecord | undefined): member is MemberRecord {
  return member !== undefined && member.status !== 'stopped' && member.hostId === hostId;
}

/** The members that should have a process on a daemon, or had one and were to get another. */
export function wantedOn(hostId: string, state: TeamState): MemberRecord[] {
  if (state.team?.status !== 'active') return [];
  return [...state.members.values()].filter(
    (member) =>
      member.agent &&
      member.agent.kind !== 'function' &&
      (member.status !== 'stopped' || member.returning) &&
      (member.hostId === undefined || member.hostId === hostId),
  );
}

/**
 * Which daemons should take a member, the best first: the least loaded, then by name. Those that wait before it in the team
 * are thought of as placed, so that all daemons, each by itself, come to the same answer and many that come at once are spread.
 */
export function rankHosts(state: TeamState, memberId: string, hosts: readonly HostCard[]): HostCard[] {
  const load = new Map(hosts.map((host) => [host.name, Math.max(host.load, running(state, host.name))]));
  const order = (member: MemberRecord) =>
    hosts
      .filter((host) => mayRun(host, member))
      .sort((a, b) => (load.get(a.name) ?? 0) - (load.get(b.name) ?? 0) || (a.name < b.name ? -1 : 1));
  for (const member of unplaced(state)) {
    const ranked = order(member);
    if (member.id === memberId) return ranked;
    const [best] = ranked;
    if (best) load.set(best.name, (load.get(best.name) ?? 0) + 1);
  }
  return [];
}

function running(state: TeamState, name: string): number {
  return [...state.members.values()].filter(({ hostId, status }) => hostId === name && status !== 'stopped').length;
}

/** `claude` for Claude Code; the name of an agent that speaks ACP. */
export function agentOf({ kind, name }: AgentSpec): string {
  return kind === 'acp' ? (name ?? 'acp') : kind;
}
