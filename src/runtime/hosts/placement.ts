import { catalogNameOf, hasProcess, isOwnAgent } from '../../core/agent-kinds.ts';
import type { MemberRecord, TeamState } from '../../core/state.ts';
import type { HostCard } from '../../journal/hosts.ts';

/** Whether a daemon may run a member: by its name, labels and installed agents. */
export function mayRun(host: HostCard, member: MemberRecord): boolean {
  if (!member.agent || !hasProcess(member.agent)) return false;
  if (member.host !== undefined && member.host !== host.name) return false;
  if (member.labels?.some((label) => !host.labels.includes(label))) return false;
  if (member.agent.command !== undefined || isOwnAgent(member.agent)) return true;
  return host.agents.includes(catalogNameOf(member.agent));
}

/** The members of a team that wait for a daemon. */
export function unplaced(state: TeamState): MemberRecord[] {
  if (state.team?.status !== 'active') return [];
  return [...state.members.values()].filter(
    ({ agent, status, hostId }) =>
      agent !== undefined && hasProcess(agent) && status === 'spawning' && hostId === undefined,
  );
}

/** Whether a member is live and belongs to this daemon. A lost member that waits for a machine belongs to none. */
export function runsOn(hostId: string, member: MemberRecord | undefined): member is MemberRecord {
  return member !== undefined && member.status !== 'stopped' && member.hostId === hostId;
}

/** The members that should have a process on a daemon, or had one and were to get another. */
export function wantedOn(hostId: string, state: TeamState): MemberRecord[] {
  if (state.team?.status !== 'active') return [];
  return [...state.members.values()].filter(
    (member) =>
      member.agent &&
      hasProcess(member.agent) &&
      (member.status !== 'stopped' || member.returning) &&
      (member.hostId === undefined || member.hostId === hostId),
  );
}

/**
 * The daemons that may take a member, the best first: the least loaded, then by name. Members that wait before it count
 * as placed. So all daemons reach the same answer independently, and many new members are spread.
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

/** Whether a live member has had a process. */
export function hadProcess({ status, hostId }: MemberRecord): boolean {
  return status !== 'spawning' && hostId !== undefined;
}
