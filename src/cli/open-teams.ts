import type { Client } from '../client/client.ts';
import type { ResultOf } from '../operations/index.ts';
import { clean } from './text.ts';
import { warn } from './write.ts';

/** The team that was named, else all that are open; those that cannot be read are told of, and left out. */
export async function findOpenTeams(
  client: Client,
  teamId: string | undefined,
  options: { signal?: AbortSignal } = {},
): Promise<string[]> {
  if (teamId !== undefined) return [teamId];
  const teams = await client.call('team.list', {}, options);
  for (const { problem } of teams) if (problem !== undefined) warn(`troupe: ${clean(problem)}\n`);
  return namesOfOpen(teams);
}

/** Of teams those that are not closed. */
export function namesOfOpen(teams: ResultOf<'team.list'>): string[] {
  return teams.filter(({ status }) => status !== 'cleaned-up').map(({ name }) => name);
}
