import { join } from 'node:path';
import { TeamError } from '../core/errors.ts';
import type { TeamRecord } from '../core/state.ts';
import { withSettings } from '../core/team-work.ts';
import type { TeamWork } from '../core/team-work.ts';
import { filesOfHook, filesOfSetup } from '../runtime/hooks/hook-files.ts';
import type { FilePrograms } from '../runtime/team-file/approval.ts';
import type { TeamFile } from '../runtime/team-file/schema.ts';
import { beginFrom, branchOf, planWork, remoteOf, settingsOf } from '../runtime/work/plan.ts';
import type { WorkPlan } from '../runtime/work/plan.ts';
import { wordLeftOut } from '../runtime/work/problems.ts';
import { obeyedBy, requireCommitted } from '../runtime/work/require-base.ts';
import { requireBranch } from '../runtime/work/require-branch.ts';
import type { Services } from './operation.ts';

type Parts = Pick<Services, 'ledger' | 'works' | 'daemon'>;

/** A team file that is about to be used. */
interface Asked {
  readonly file: TeamFile;
  readonly folder: string;
  /** The name of the file, if there is one. */
  readonly name?: string;
  /** What it runs. */
  readonly programs?: FilePrograms | undefined;
}

/** Where the members of a file would work, for people. An existing team stays as it is. */
export async function describePlan(parts: Parts, asked: Asked) {
  const { file, folder } = asked;
  const team = await standing(parts, file.team, { again: true });
  if (team?.work) {
    const { base, branch } = team.work;
    const repository = (await parts.works?.recognise(file.team, folder)) ?? team.work.repository;
    // A checkout that cannot be read is refused where it is needed. To look is no reason.
    const ahead = await parts.works?.lookAhead(file.team).catch(() => undefined);
    return { workspaces: 'own' as const, repository, base, branch, uncommitted: [], ...(ahead && { ahead }) };
  }
  if (team) return { workspaces: 'shared' as const, why: 'the team was started so', uncommitted: [] };
  const plan = await makePlan(parts, asked);
  if (!plan) return undefined;
  if (plan.workspaces === 'shared') return { ...plan, uncommitted: [] };
  const { checkout } = plan.project;
  const refused = asked.programs && (await whyRefused(parts, plan, asked));
  return {
    workspaces: 'own' as const,
    repository: checkout.folder,
    base: plan.base,
    branch: branchOf(file),
    uncommitted: [...plan.uncommitted],
    ...(refused !== undefined && { refused }),
  };
}

/** Why a team of this file could not begin; undefined if it can. */
async function whyRefused(parts: Parts, plan: OwnPlan, asked: Asked): Promise<string | undefined> {
  try {
    await beginWork(parts, plan, { ...asked, withChanges: false });
    return undefined;
  } catch (error) {
    if (error instanceof TeamError) return error.message;
    throw error;
  }
}

/** How the members of a file's team work apart; undefined if they share a folder. */
interface FileWork {
  readonly work?: TeamWork | undefined;
  /** The uncommitted files that could not be taken along, each with the reason. */
  readonly leftOut: readonly string[];
}

/** How the members of a file's team work apart: of a new team as planned, of an existing one as it is. */
export async function workFor(
  parts: Parts,
  asked: Asked & { readonly withChanges: boolean; readonly again: boolean },
): Promise<FileWork> {
  const { file, folder, withChanges, again } = asked;
  const team = await standing(parts, file.team, { again });
  if (team) {
    if (withChanges) {
      throw new TeamError(
        'conflict',
        `Team ${file.team} has begun already, so it cannot take your uncommitted files along: commit them, and start it over or choose another name`,
      );
    }
    // What the file no longer says no longer holds.
    if (!team.work) return { leftOut: [] };
    const repository = (await parts.works?.recognise(file.team, folder)) ?? team.work.repository;
    const place = file.work?.remote === undefined ? undefined : await parts.works?.placeOf(file.team);
    const settings = settingsOf(file, folder, place && (await remoteOf(place, file)));
    return { work: { ...withSettings(team.work, settings), repository }, leftOut: [] };
  }
  const plan = await makePlan(parts, asked);
  return plan?.workspaces === 'own' ? beginWork(parts, plan, asked) : { leftOut: [] };
}

type OwnPlan = Extract<WorkPlan, { workspaces: 'own' }>;

/** The commit that a new team begins from, if it has all programs of the file. */
async function beginWork(
  parts: Parts,
  plan: OwnPlan,
  { file, folder, programs, withChanges }: Asked & { readonly withChanges: boolean },
): Promise<FileWork> {
  const { ledger, works } = parts;
  const { project } = plan;
  if (works) {
    await requireBranch({ ledger, projects: works.projects }, { teamId: file.team, branch: branchOf(file), project });
  }
  const isShared = parts.daemon.hostId !== undefined;
  const { work, leftOut } = await beginFrom(plan, { file, folder, withChanges, isShared });
  const { hooks = [], agents = [], setup } = programs ?? {};
  const gates = hooks.map((hook) => ({
    command: hook.command,
    files: [...filesOfHook(hook, hook.cwd ?? folder).keys()],
  }));
  const { command = '' } = setup ?? {};
  const ready = { command, files: [...filesOfSetup(command, folder).keys()] };
  await requireCommitted(plan, {
    base: work.base,
    withChanges,
    leftOut: leftOut.map(({ path }) => path),
    programs: [...agents, ...gates, ready],
    obeyed: obeyedBy(file, folder),
  });
  return { work, leftOut: leftOut.map(wordLeftOut) };
}

async function standing(
  { ledger }: Parts,
  teamId: string,
  { again = false } = {},
): Promise<Pick<TeamRecord, 'work'> | undefined> {
  return ledger.view(teamId, ({ team }) => (team && !(again && team.status === 'cleaned-up') ? team : undefined));
}

async function makePlan({ works }: Parts, { file, folder, name }: Asked): Promise<WorkPlan | undefined> {
  if (!works) return undefined;
  const path = name === undefined ? undefined : join(folder, name.split('/').at(-1) ?? '');
  return planWork(works.projects, { file, folder, path });
}
