import type { Client } from '../client/client.ts';
import { clean } from './text.ts';
import { count } from './views/details.ts';
import { taskNames } from './words.ts';

/** Members of a team that end with their daemon, what they hold, and where their team is brought up. */
export interface TakenDown {
  readonly team: string;
  readonly members: readonly string[];
  readonly tasks: readonly string[];
  readonly folder?: string | undefined;
}

/** Whom a daemon takes down with itself. One of another version must be able to stop too: what it does not answer is not told. */
export async function findTakenDown(client: Client, signal: AbortSignal): Promise<TakenDown[]> {
  try {
    const teams = await client.call('team.list', {}, { signal });
    const open = teams.filter(({ status, problem }) => status !== 'cleaned-up' && problem === undefined);
    return (await Promise.all(open.map(({ name }) => takenDownOf(client, name, signal)))).flat();
  } catch (error) {
    if (signal.aborted) throw error;
    return [];
  }
}

async function takenDownOf(client: Client, team: string, signal: AbortSignal): Promise<TakenDown[]> {
  const sessions = await client.call('session.list', { teamId: team }, { signal });
  // Those that other machines run have no process here, and go on.
  const members = sessions.filter(({ pid }) => pid !== undefined).map(({ memberId }) => memberId);
  if (members.length === 0) return [];
  const [held, { metadata }] = await Promise.all([
    client.call('task.list', { teamId: team, status: 'in_progress' }, { signal }),
    client.call('team.show', { teamId: team }, { signal }),
  ]);
  const tasks = held.filter(({ assigneeId = '' }) => members.includes(assigneeId)).map(({ id }) => id);
  const folder = metadata?.['folder'];
  return [{ team, members, tasks, ...(typeof folder === 'string' && { folder }) }];
}

/** `2 members of slow were stopped, #1 and #2 went back; troupe up in /home/me/slow goes on with it.` */
export function describeTakenDown({ team, members, tasks, folder }: TakenDown): string {
  const who = `${count(members.length, 'member')} of ${clean(team)} ${members.length === 1 ? 'was' : 'were'} stopped`;
  const back = tasks.length === 0 ? '' : `, ${taskNames(tasks)} went back`;
  const how =
    folder === undefined ? `troupe member restart NAME --team ${clean(team)}` : `troupe up in ${clean(folder)}`;
  return `${who}${back}; ${how} goes on with it.\n`;
}
