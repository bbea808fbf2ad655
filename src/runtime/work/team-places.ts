import { TeamError } from '../../core/errors.ts';
import type { StandingWork } from '../../core/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { WORK_LIMITS } from '../../workspaces/workspace.ts';
import { recoverTip } from './lost.ts';
import type { OwnProject, Projects } from './project.ts';

/** A team and its project. */
export interface TeamPlace extends OwnProject {
  readonly work: StandingWork;
}

/** The projects of teams whose members have workspaces of their own, each opened once. */
export function openTeamPlaces(ledger: Ledger, projects: Projects) {
  const opened = new Map<string, { readonly by: string; readonly project: Promise<OwnProject> }>();

  const isOpened = (teamId: string): boolean => opened.has(teamId);
  return { placeOf, requirePlace, isOpened, recognise, forget: (teamId: string): void => void opened.delete(teamId) };

  async function placeOf(teamId: string): Promise<TeamPlace | undefined> {
    const work = await workOf(teamId);
    if (!work) return undefined;
    // What `troupe up` changes holds at once.
    const by = JSON.stringify([work.repository, work.limits]);
    const before = opened.get(teamId);
    const known = before?.by === by ? before : { by, project: openProject(teamId, work) };
    opened.set(teamId, known);
    const forget = (): void => void (opened.get(teamId) === known && opened.delete(teamId));
    known.project.catch(forget);
    const project = await known.project;
    // Opening it may have moved the tip.
    if (await project.depot.isThere()) return { ...project, work: (await workOf(teamId)) ?? work };
    // Somebody removed it while we run. It is made again from the checkout, as at a start.
    forget();
    return placeOf(teamId);
  }

  function workOf(teamId: string): Promise<StandingWork | undefined> {
    return ledger.view(teamId, ({ team }) => team?.work);
  }

  async function openProject(teamId: string, work: StandingWork): Promise<OwnProject> {
    const { repository, base, roots, limits } = work;
    const options = { limits: { ...WORK_LIMITS, ...sizesIn(limits) } };
    const project = await projects.find({ team: teamId, repository, base, roots }, options);
    if (project.kind === 'clone') {
      // On several machines, others may have what is missing.
      if (!roots) await recoverTip(ledger, teamId, { ...project, work });
      return project;
    }
    const why = project.why?.why ?? `${repository} cannot be used`;
    throw new TeamError(
      'storage',
      `The repository of the team is not usable: ${why}. If you moved it, run troupe up there`,
    );
  }

  /** The top folder around a folder, if the team's checkout was moved there; the team goes on with it. */
  async function recognise(teamId: string, folder: string): Promise<string | undefined> {
    const work = await workOf(teamId);
    const moved = work && (await projects.recognise({ team: teamId, ...work }, folder));
    if (moved !== undefined) opened.delete(teamId);
    return moved;
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
