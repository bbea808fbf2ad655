import { createHash } from 'node:crypto';
import { endMarked, MARKER } from '../agents/process.ts';
import { openTeamWorks } from '../runtime/work/team-works.ts';
import type { TeamWorks } from '../runtime/work/team-works.ts';
import { openProjects } from '../workspaces.ts';
import type { Ending } from './ending.ts';
import type { TakenHome } from './home.ts';
import type { Storage } from './storage.ts';

/** Opens the workspaces of this state directory. Git processes that a killed daemon left are ended first. */
export async function openDaemonWorks(
  { home, environment, log }: TakenHome,
  { ledger }: Storage,
  ending: Ending,
): Promise<TeamWorks> {
  const mark = `git-${createHash('sha256').update(home.directory).digest('hex').slice(0, 24)}`;
  const projects = await openProjects({
    root: home.directory,
    environment,
    marks: { [MARKER]: mark },
    endLeftovers: () => endMarked(mark),
  });
  const works = openTeamWorks({
    ledger,
    projects,
    onError: (error, about) => log.error('work.failed', { ...about, error }),
  });
  ending.closers.add('works', () => works.close());
  return works;
}
