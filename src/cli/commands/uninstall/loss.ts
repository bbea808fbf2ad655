import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../../client/client.ts';
import { CallError } from '../../../client/errors.ts';
import type { Home } from '../../../client/home.ts';
import { shortId } from '../../../core/commit-id.ts';
import { shellWord } from '../../../core/shell.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { openClient } from '../../reach/connect.ts';
import { hasLanded, lookAtWork } from '../../reach/team-work.ts';
import { fetchCommand, listUnmerged } from '../../show/unmerged.ts';
import type { Unmerged } from '../../show/unmerged.ts';
import { count } from '../../show/views/details.ts';
import { nameLeftover } from '../../show/views/leftovers.ts';

/**
 * Names the work that only the state directory has: what members wrote and no repository of the user holds. Where there
 * may be such work, a daemon is needed to say so, and is started.
 */
export async function findLoss(home: Home, environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Unmerged[]> {
  const files = namesIn(home.folders)
    .map((team) => ({ team, found: namesIn(join(home.folders, team)) }))
    .filter(({ found }) => found.length > 0)
    .map(({ team, found }) => ({
      what: `team ${team}: ${count(found.length, 'file')} in ${join(home.folders, team)}`,
      save: `cp -R ${shellWord(join(home.folders, team))} ${team}-files`,
    }));
  if (namesIn(join(home.directory, 'depots')).length === 0) return files;
  const client = openClient(environment);
  try {
    return [...files, ...(await lossOfTeams(client, environment, signal))];
  } catch (error) {
    if (signal.aborted) throw error;
    return [...files, { what: `work of teams, which cannot be looked at: ${(error as Error).message}` }];
  } finally {
    client.close();
  }
}

async function lossOfTeams(client: Client, environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Unmerged[]> {
  const teams = await client.call('team.list', {}, { signal });
  const lost: Unmerged[] = [];
  for (const { name, problem, parent } of teams) {
    const work = problem === undefined ? await lookAtWork(client, name, signal) : undefined;
    if (work?.workspaces === 'own') {
      const stays = hasLanded(work, environment, { copies: true });
      const isMerged = stays || (parent !== undefined && (await isOver(client, parent, signal)));
      const listed = listUnmerged(work, { teamId: name, isMerged });
      lost.push(...listed.map((one) => ({ ...one, what: `team ${name}: ${one.what}` })));
    } else if (problem !== undefined) lost.push({ what: `team ${name}, which cannot be read: ${problem}` });
  }
  const known = new Set(teams.map(({ name }) => name));
  // Kept work of existing teams is listed above, but not that of a deleted team whose name another one has now. Folders
  // in the trash have their work among the kept. A branch that has a time to go is merged.
  const left = (await client.call('work.leftovers', {}, { signal })).filter(({ kind, of, goesAt }) =>
    kind === 'branch' ? goesAt === undefined : kind === 'kept' && !known.has(of.split('/')[0] ?? ''),
  );
  return [...lost, ...left.map(wordLeft)];
}

/** The command works in the repository that the work is of. */
function wordLeft(one: ResultOf<'work.leftovers'>[number]): Unmerged {
  const { path, ref, of, id } = one;
  const name = `kept/${of.replaceAll('/', '-')}-${shortId(id)}`;
  return { what: nameLeftover(one), ...(ref !== undefined && { save: fetchCommand({ path, ref, name }) }) };
}

/** Whether a task is completed. What a team inside of its holder did for it is then among the work of that task. */
async function isOver(
  client: Client,
  { teamId, taskId }: { readonly teamId: string; readonly taskId: string },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await client.call('task.show', { teamId, taskId }, { signal })).status === 'completed';
  } catch (error) {
    if (error instanceof CallError && error.code === 'not_found') return false;
    throw error;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
