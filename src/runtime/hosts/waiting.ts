import { SYSTEM } from '../../core/actor.ts';
import { catalogNameOf } from '../../core/agent-kinds.ts';
import { TeamError } from '../../core/errors.ts';
import { shellWord } from '../../core/shell.ts';
import type { MemberRecord, TeamState } from '../../core/state.ts';
import { shorten } from '../../core/text.ts';
import { waitingOf } from '../../core/waiting.ts';
import type { HostCard } from '../../journal/hosts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { mayRun, unplaced } from './placement.ts';

/** A daemon that can run a member takes it within this time; after that, its own log may show why not. */
const TAKEN_ON_MS = 10_000;

/** Error codes that mean that the member no longer waits. */
const OVER: readonly string[] = ['member_stopped', 'not_found', 'team_closed'];

/** The longest reason in a member's record. */
const REASON = 300;

/** Why a member waits that is bound to one daemon. */
export function awaitHost(host: string): string {
  return `it must run on the machine ${host}, which is not connected: run troupe serve --name ${host} there, or start it without a host`;
}

/** Why no daemon runs a waiting member, and what to do; undefined if one is about to. */
export function whyUnplaced(member: MemberRecord, hosts: readonly HostCard[], waitedMs: number): string | undefined {
  const { host, labels = [], agent, cwd } = member;
  const names = (some: readonly HostCard[]) => some.map(({ name }) => name).join(', ');
  const named = hosts.filter(({ name }) => host === undefined || name === host);
  if (named.length === 0) {
    return awaitHost(host ?? '');
  }
  const labelled = named.filter((one) => labels.every((label) => one.labels.includes(label)));
  if (labelled.length === 0) {
    const options = labels.map((label) => `--label ${shellWord(label)}`).join(' ');
    return `no machine has what it needs (${labels.join(', ')}); connected: ${names(named)}. Run troupe serve ${options} on a machine that has it`;
  }
  const able = labelled.filter((one) => mayRun(one, member));
  if (able.length === 0 && agent) {
    return `${catalogNameOf(agent)} is not installed on ${names(labelled)}: install it there and restart the daemon`;
  }
  if (waitedMs < TAKEN_ON_MS) return undefined;
  return `${names(able)} could run it but did not: check that its folder ${cwd ?? ''} exists there, and see the daemon's log`;
}

/** Records on waiting members why no daemon takes them, for everyone to see. One daemon does it for all. */
export async function tellUnplaced(ledger: Ledger, teamId: string, hosts: readonly HostCard[]): Promise<void> {
  const told = await ledger.view(teamId, (state) => findUntold(state, hosts));
  for (const { memberId, reason } of told) {
    const change = { memberId, metadata: { waiting: { reason } } };
    try {
      await ledger.execute(teamId, { type: 'member.change', by: SYSTEM, ...change }, () => undefined);
    } catch (error) {
      // It was stopped, or its team closed, meanwhile.
      if (!(error instanceof TeamError) || !OVER.includes(error.code)) throw error;
    }
  }
}

function findUntold(state: TeamState, hosts: readonly HostCard[]): { memberId: string; reason: string }[] {
  return unplaced(state).flatMap((member) => {
    const why = whyUnplaced(member, hosts, Date.now() - member.statusSince.getTime());
    const reason = why === undefined ? undefined : shorten(why, REASON);
    return reason === undefined || waitingOf(member) === reason ? [] : [{ memberId: member.id, reason }];
  });
}
