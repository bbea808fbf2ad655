import { existsSync, realpathSync } from 'node:fs';
import type { Client } from '../../client/client.ts';
import type { TeamWork } from '../../core/team-work.ts';
import { Refusal } from '../show/errors.ts';
import { NO_TEAM } from '../show/words.ts';
import { openClient } from './connect.ts';
import { gitIn } from './git.ts';
import { findOpenTeams } from './open-teams.ts';

/**
 * The teams that a command may be about if its words name none. One of them is the answer; several are a question.
 * Refused if there is no team at all.
 */
export async function listTeams(
  { inRepository }: { readonly inRepository?: true },
  environment: NodeJS.ProcessEnv,
): Promise<string[]> {
  const client = openClient(environment);
  try {
    const found = inRepository ? await listTeamsHere(client, environment) : [];
    if (found.length > 0) return found;
    const open = await findOpenTeams(client, undefined);
    if (open.length === 0 && (await client.call('team.list', {})).length === 0) throw new Refusal('not_found', NO_TEAM);
    return open;
  } finally {
    client.close();
  }
}

/** The teams whose workspaces come from the repository around the working directory. An open one counts first. */
async function listTeamsHere(client: Client, environment: NodeJS.ProcessEnv): Promise<string[]> {
  const git = gitIn(process.cwd(), environment);
  const { code, out } = git(['rev-parse', '--show-toplevel']);
  if (code !== 0) return [];
  const top = real(out);
  // A team of several machines names its repository by the first commits: each machine has it elsewhere.
  const hasAll = (roots: readonly string[]): boolean =>
    roots.every((root) => git(['cat-file', '-e', `${root}^{commit}`]).code === 0);
  const teams = await client.call('team.list', {});
  const shown = teams
    .filter(({ problem }) => problem === undefined)
    // A team that is deleted meanwhile must not fail the others.
    .map(({ name }) => client.call('team.show', { teamId: name }).catch(() => undefined));
  const isHere = ({ roots, repository, base }: TeamWork): boolean => {
    // A checkout that was moved is not in its place any more.
    if (roots || !existsSync(repository)) return hasAll(roots ?? [base]);
    return real(repository) === top;
  };
  const here = (await Promise.all(shown)).flatMap((team) => (team?.work && isHere(team.work) ? [team] : []));
  const open = here.filter(({ status }) => status !== 'cleaned-up');
  return (open.length > 0 ? open : here).map(({ name }) => name);
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
