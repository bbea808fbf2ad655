import { TeamError } from '../../core/errors.ts';
import type { StandingWork } from '../../core/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { WORK_LIMITS } from '../../workspaces/workspace.ts';
import type { OwnProject, Projects } from './project.ts';

/** A team and its project. */
export interface TeamPlace extends OwnProject {
  readonly work: StandingWork;
}

/** The projects of teams whose members have workspaces of their own, each opened once. */
export function openTeamPlaces(ledger: Ledger, projects: Projects) {
  const opened = new Map<string, Promise<OwnProject>>();

  const isOpened = (teamId: string): boolean => opened.has(teamId);
  return { placeOf, requirePlace, isOpened, forget: (teamId: string): void => void opened.delete(teamId) };

  async function placeOf(teamId: string): Promise<TeamPlace | undefined> {
    const work = await ledger.view(teamId, ({ team }) => team?.work);
    if (!work) return undefined;
    const known = opened.get(teamId) ?? openProject(teamId, work);
    opened.set(teamId, known);
    known.catch(() => opened.delete(teamId));
    const project = await known;
    if (await project.depot.isThere()) return { ...project, work };
    // Somebody removed it while we run. It is made again from the checkout, as at a start.
    if (opened.get(teamId) === known) opened.delete(teamId);
    return placeOf(teamId);
  }

  async function openProject(teamId: string, { repository, base, roots, limits }: StandingWork): Promise<OwnProject> {
    const options = { limits: { ...WORK_LIMITS, ...sizesIn(limits) } };
    const project = await (roots
      ? projects.find({ team: teamId, repository, base, roots }, options)
      : projects.open(repository, options));
    if (project.kind === 'clone') return project;
    const why = project.why?.why ?? `${repository} cannot be used`;
    throw new TeamError('storage', `The repository of the team is not usable: ${why}`);
  }

  async function requirePlace(teamId: string): Promise<TeamPlace> {
    const place = await placeOf(teamId);
    if (place) return place;
    throw new TeamError('conflict', `Team ${teamId} has no workspaces: its members share a folder`);
  }
}

/** The limits of a work, as far as a team names them. */
export function sizesIn({ fileSize, workSize }: NonNullable<StandingWork['limits']> = {}) {
  return { ...(fileSize !== undefined && { fileSize }), ...(workSize !== undefined && { workSize }) };
}
