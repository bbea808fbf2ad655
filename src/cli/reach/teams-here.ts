import { existsSync, realpathSync } from 'node:fs';
import { isInside } from '../../core/folder.ts';
import type { TeamWork } from '../../core/team-work.ts';
import type { ResultOf } from '../../operations/index.ts';
import { gitIn } from './git.ts';

type Team = ResultOf<'team.show'>;

/**
 * Those of the teams that belong to the working directory, open or closed: the ones whose file is in the nearest folder
 * around it; else the ones whose workspaces come from the repository around it. A team inside a member belongs to the
 * one around it.
 */
export function teamsHere(teams: readonly Team[], environment: NodeJS.ProcessEnv): Team[] {
  const here = real(process.cwd());
  const byFile = teams.flatMap((team) => {
    const folder = folderOf(team);
    return folder !== undefined && isInside(here, folder) ? [{ team, folder }] : [];
  });
  const nearest = Math.max(0, ...byFile.map(({ folder }) => folder.length));
  const found = byFile.filter(({ folder }) => folder.length === nearest).map(({ team }) => team);
  return outermost(found.length > 0 ? found : ofRepository(teams, environment));
}

/** Whether a team is not closed. */
export function isOpen({ status }: Pick<Team, 'status'>): boolean {
  return status !== 'cleaned-up';
}

/** The folder of its team file. */
function folderOf({ metadata }: Team): string | undefined {
  const folder = metadata?.['folder'];
  return typeof folder === 'string' ? real(folder) : undefined;
}

function ofRepository(teams: readonly Team[], environment: NodeJS.ProcessEnv): Team[] {
  if (!teams.some(({ work }) => work)) return [];
  const git = gitIn(process.cwd(), environment);
  const top = topOf(git);
  if (top === undefined) return [];
  // A team of several machines names its repository by the first commits: each machine has it elsewhere.
  const hasAll = (roots: readonly string[]): boolean =>
    roots.every((root) => git(['cat-file', '-e', `${root}^{commit}`]).code === 0);
  const isHere = ({ roots, repository, base }: TeamWork): boolean => {
    // A checkout that was moved is not in its place any more.
    if (roots || !existsSync(repository)) return hasAll(roots ?? [base]);
    return real(repository) === top;
  };
  return teams.filter(({ work }) => work && isHere(work));
}

/** Undefined outside of a repository, and on a machine without git. */
function topOf(git: ReturnType<typeof gitIn>): string | undefined {
  try {
    const { code, out } = git(['rev-parse', '--show-toplevel']);
    return code === 0 ? real(out) : undefined;
  } catch {
    return undefined;
  }
}

function outermost(teams: readonly Team[]): Team[] {
  const names = new Set(teams.map(({ name }) => name));
  return teams.filter(({ parent }) => parent === undefined || !names.has(parent.teamId));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
