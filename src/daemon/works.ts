import { createHash } from 'node:crypto';
import { endMarked, MARKER } from '../agents/process.ts';
import { readConfig } from '../runtime/config.ts';
import { openApprovals } from '../runtime/hooks/approvals.ts';
import type { Membership } from '../runtime/hosts/join.ts';
import { openProcessRecords } from '../runtime/process-records.ts';
import type { Others } from '../runtime/work/pack-questions.ts';
import { openSetups } from '../runtime/work/setup.ts';
import { openTeamWorks } from '../runtime/work/team-works.ts';
import type { TeamWorks } from '../runtime/work/team-works.ts';
import { openProjects } from '../workspaces.ts';
import type { Ending } from './ending.ts';
import type { TakenHome } from './home.ts';
import type { Storage } from './storage.ts';

/** Opens the workspaces of this state directory. Git processes that a killed daemon left are ended first. */
export async function openDaemonWorks(
  { home, environment, environments, log }: TakenHome,
  { ledger, packs, membership, hostId }: Storage,
  ending: Ending,
): Promise<TeamWorks> {
  const mark = `git-${createHash('sha256').update(home.directory).digest('hex').slice(0, 24)}`;
  const projects = await openProjects({
    root: home.directory,
    environment,
    marks: { [MARKER]: mark },
    endLeftovers: () => endMarked(mark),
    // The folder in which a person started this daemon is often a checkout.
    folders: () => [...(readConfig(home.directory).projects ?? []), process.cwd()],
  });
  const approvals = openApprovals(home.approvals);
  const works = openTeamWorks({
    ledger,
    projects,
    ...(packs && membership && { several: { store: packs, hostId, others: othersIn(membership, hostId) } }),
    approvals,
    setups: openSetups({
      approvals,
      records: openProcessRecords(home.processes),
      environmentOf: (teamId) => ({ ...environments.of(teamId), TROUPE_HOME: home.directory }),
    }),
    onError: (error, about) => log.error('work.failed', { ...about, error }),
  });
  ending.closers.add('works', () => works.close());
  return works;
}

function othersIn(membership: Membership, hostId: string): Others {
  return {
    names: () => (membership.keeper?.list() ?? []).map(({ name }) => name).filter((name) => name !== hostId),
    ask: (name, question, options) => membership.hosts.ask(name, question, options),
  };
}
