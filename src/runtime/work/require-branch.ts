import { TeamError } from '../../core/errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { OwnProject, Projects } from './project.ts';

/**
 * Checks the branch of a new team. Git must accept its name, no other team of the repository may have it, and it must be
 * able to exist beside the other branches of the depot.
 */
export async function requireBranch(
  { ledger, projects }: { ledger: Ledger; projects: Projects },
  { teamId, branch, project }: { teamId: string; branch: string; project: OwnProject },
): Promise<void> {
  const { depot } = project;
  // Refuses a name that git refuses.
  await depot.branch(branch);
  const known = await ledger.viewAll((state) => (state.team?.work ? [{ id: state.teamId, ...state.team.work }] : []), {
    unreadable: () => [],
  });
  const teams = known.flat();
  const choose = 'choose another one with work: { into: BRANCH }';
  for (const other of teams) {
    if (other.id === teamId || !clashes(other.branch, branch) || !(await isHere(other.repository))) continue;
    const why =
      other.branch === branch
        ? `Branch ${branch} is the branch of team ${other.id}`
        : `Branch ${branch} cannot exist beside ${other.branch}, the branch of team ${other.id}`;
    throw new TeamError('conflict', `${why}: ${choose}, or delete that team (troupe team delete ${other.id})`);
  }
  // The team's own branch is from its earlier life, and goes with it.
  const own = teams.find(({ id }) => id === teamId)?.branch;
  const { out } = await depot.handle.run(['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads']);
  const names = out.toString().split('\n').filter(Boolean);
  const beside = names.find((name) => name !== branch && name !== own && clashes(name, branch));
  if (beside === undefined) return;
  throw new TeamError(
    'conflict',
    `Branch ${branch} cannot exist beside the branch ${beside} in ${depot.dir}: ${choose}`,
  );

  /** Whether a repository has the same depot: it may be another worktree of this one. */
  async function isHere(repository: string): Promise<boolean> {
    if (repository === project.checkout.folder) return true;
    const found = await projects.open(repository).catch(() => undefined);
    return found?.kind === 'clone' && found.depot.id === depot.id;
  }
}

/** Whether two branches are the same, or one would be a folder of the other. */
function clashes(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}
