import { relative } from 'node:path';
import { isNativeAgent } from '../../core/agent-kinds.ts';
import { TeamError } from '../../core/errors.ts';
import type { TeamRemote } from '../../core/team-remote.ts';
import type { TeamWork, WorkSettings } from '../../core/team-work.ts';
import type { NoCheckout } from '../../workspaces/checkout.ts';
import { findRemote } from '../../workspaces/remote/settings.ts';
import { WORK_LIMITS } from '../../workspaces/workspace.ts';
import type { LeftOut } from '../../workspaces/workspace.ts';
import { agentsOf } from '../team-file/file-agents.ts';
import { realPath } from '../team-file/place.ts';
import type { TeamFile } from '../team-file/schema.ts';
import { setupOf } from '../team-file/setup.ts';
import { bytesOf } from '../team-file/values.ts';
import type { OwnProject, Projects } from './project.ts';
import { sizesIn } from './team-places.ts';

/** Where the members of a team file would work. */
export type WorkPlan =
  | { readonly workspaces: 'shared'; readonly why: string }
  | {
      readonly workspaces: 'own';
      readonly project: OwnProject;
      /** The team's folder in the repository; empty at the top. */
      readonly prefix: string;
      /** The commit that members begin from, unless uncommitted files come along. */
      readonly base: string;
      /** The git remote by which work travels to other machines. */
      readonly remote: TeamRemote | undefined;
      /** Paths in the checkout that differ from its HEAD, without the team file. */
      readonly uncommitted: readonly string[];
    };

/** A team file and its place. */
export interface Planned {
  readonly file: TeamFile;
  readonly folder: string;
  /** The path of the file, if it has one: it need not be committed. */
  readonly path?: string | undefined;
}

/** Decides where the members of a team file would work. Refuses if the file asks for what cannot be. */
export async function planWork(projects: Projects, planned: Planned): Promise<WorkPlan> {
  const { file, folder, path } = planned;
  const asksFirst = approvalIn(file);
  // Only work that lands can be approved before it does.
  const { workspaces: asked = asksFirst === undefined ? undefined : 'own' } = file.work ?? {};
  const shared = (why: string): WorkPlan => {
    if (asksFirst !== undefined) {
      throw new TeamError(
        'invalid',
        `${asksFirst} needs members with workspaces of their own, and they cannot have any: ${why}`,
      );
    }
    if (asked === 'own') throw new TeamError('invalid', `Members cannot have workspaces of their own here: ${why}`);
    return { workspaces: 'shared', why };
  };
  if (asked === 'shared') return shared('the team file says so');
  const apart = agentsOf(file, folder).filter(
    ({ spec, entry }) =>
      entry.cwd === undefined && (isNativeAgent(spec) ? entry.workspace === 'own' : entry.workspace !== 'shared'),
  );
  if (apart.length === 0) return shared('no member could use one');
  if (apart.length === 1 && asked === undefined) return shared('only one member works here');
  const project = await projects.open(folder);
  if (project.kind === 'shared') return shared(whyNot(project.why));
  const { checkout, depot } = project;
  const prefix = relative(checkout.folder, realPath(folder));
  const name = file.work?.base;
  const isHead = name === undefined || name === 'HEAD';
  const base = isHead ? checkout.head : await depot.take(checkout, name);
  if (prefix !== '' && !(await isFolderIn(project, base, prefix))) {
    if (!isHead) {
      throw new TeamError(
        'invalid',
        `work.base is ${name}, where the folder of the team file (${prefix}) does not exist: choose a branch or tag that has it`,
      );
    }
    return shared(`no file in ${folder} is committed`);
  }
  const remote = await remoteOf(project, file);
  const own = path === undefined ? undefined : relative(checkout.folder, realPath(path));
  const uncommitted = (await depot.uncommitted()).map((change) => change.path).filter((one) => one !== own);
  return { workspaces: 'own', project, prefix, base, remote, uncommitted };
}

/** The remote that a file names, as the checkout has it; undefined if it names none. */
export async function remoteOf(
  { depot, checkout }: Pick<OwnProject, 'depot' | 'checkout'>,
  { work }: TeamFile,
): Promise<TeamRemote | undefined> {
  if (work?.remote === undefined) return undefined;
  if (!checkout.isAbsent) return findRemote(depot.handle.git, checkout, work.remote);
  throw new TeamError(
    'conflict',
    `This machine has no checkout of the repository, so it does not know the remote ${work.remote}: run troupe up in one`,
  );
}

/** The setting of a team file by which somebody is asked before work lands, if it has one. */
function approvalIn({ work: { approve = 'never', review } = {} }: TeamFile): string | undefined {
  if (approve !== 'never') return 'work.approve';
  return review === undefined ? undefined : 'work.review';
}

/** Whether a path is a folder in a commit. */
async function isFolderIn({ depot }: OwnProject, commit: string, path: string): Promise<boolean> {
  const { out } = await depot.handle.run(['cat-file', '-t', `${commit}:${path}`], { exits: [0, 128] });
  return out.toString().trim() === 'tree';
}

const WHY: Readonly<Record<NoCheckout['reason'], (why: string) => string>> = {
  'no-repository': () => 'there is no git repository',
  'no-commit': () => 'the git repository has no commit yet',
  'no-git': () => 'git is not installed',
  'old-git': (why) => why,
};

function whyNot(missing: NoCheckout | undefined): string {
  return missing ? WHY[missing.reason](missing.why) : 'there is no git repository';
}

/** A history may have many beginnings, and a few of them tell a repository. */
const ROOTS = 16;

/** Takes the base of a new team into the depot. */
export async function beginFrom(
  plan: Extract<WorkPlan, { workspaces: 'own' }>,
  {
    file,
    folder,
    withChanges,
    isShared,
  }: {
    readonly file: TeamFile;
    readonly folder: string;
    readonly withChanges: boolean;
    /** Whether other machines may run members. */
    readonly isShared: boolean;
  },
): Promise<{ readonly work: TeamWork; readonly leftOut: readonly LeftOut[] }> {
  const { depot, checkout } = plan.project;
  const { base: name } = file.work ?? {};
  if (withChanges && name !== undefined && name !== 'HEAD') {
    throw new TeamError('invalid', `Your uncommitted changes are on top of HEAD, and work.base is ${name}: choose one`);
  }
  const { commit: base, leftOut } = withChanges
    ? await depot.takeUncommitted({ ...WORK_LIMITS, ...sizesIn(limitsIn(file)) })
    : { commit: plan.base, leftOut: [] };
  const work: TeamWork = {
    workspaces: 'own',
    repository: checkout.folder,
    prefix: plan.prefix,
    base,
    ...(isShared && { roots: (await depot.roots(base)).slice(0, ROOTS) }),
    branch: branchOf(file),
    ...settingsOf(file, folder, plan.remote),
  };
  return { work, leftOut };
}

/** The branch on which the work of a file's team lands. */
export function branchOf({ work, team }: TeamFile): string {
  return work?.into ?? `troupe/${team}`;
}

/** The settings of a file that may change while a team works. */
export function settingsOf(file: TeamFile, folder: string, remote: TeamRemote | undefined): WorkSettings {
  const { copy, gates, history, approve, review } = file.work ?? {};
  const [limits, setup] = [limitsIn(file), setupOf(file, folder)];
  return {
    ...(copy && { copy }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(setup && { setup }),
    ...(gates !== undefined && { gates }),
    ...(history && { history }),
    ...(approve !== undefined && { approve }),
    ...(review !== undefined && { review }),
    ...(remote && { remote }),
  };
}

function limitsIn(file: TeamFile): NonNullable<TeamWork['limits']> {
  const { fileSize, workSize, disk } = file.limits ?? {};
  return {
    ...(fileSize !== undefined && { fileSize: bytesOf(fileSize) }),
    ...(workSize !== undefined && { workSize: bytesOf(workSize) }),
    ...(disk !== undefined && { disk: bytesOf(disk) }),
  };
}
