import type { Client } from '../../client/client.ts';
import { withInner } from '../../core/inner-path.ts';
import type { ResultOf } from '../../operations/index.ts';
import { clean } from '../show/text.ts';
import { warn } from '../show/write.ts';

/** The named team, else all open ones. Teams that cannot be read are reported and left out. */
async function findOpenTeams(
  client: Client,
  teamId: string | undefined,
  options: { signal?: AbortSignal } = {},
): Promise<string[]> {
  if (teamId !== undefined) return [teamId];
  const teams = await client.call('team.list', {}, options);
  warnOfUnreadable(teams);
  return namesOfOpen(teams);
}

/** The same with the open teams inside of their members, and all teams, to say where each is. */
export async function findWithInner(
  client: Client,
  teamId: string | undefined,
  options: { signal?: AbortSignal } = {},
): Promise<{ open: string[]; all: ResultOf<'team.list'> }> {
  const named = await findOpenTeams(client, teamId, options);
  const all = await client.call('team.list', {}, options);
  const within = [...new Set(named.flatMap((name) => withInner(all, name)))];
  const closed = new Set(all.flatMap(({ name, status }) => (status === 'cleaned-up' ? name : [])));
  return { open: within.filter((name) => named.includes(name) || !closed.has(name)), all };
}

/** Reports the teams that cannot be read. */
export function warnOfUnreadable(teams: ResultOf<'team.list'>): void {
  for (const { problem } of teams) if (problem !== undefined) warn(`troupe: ${clean(problem)}\n`);
}

/** The names of the teams that are not closed. */
export function namesOfOpen(teams: ResultOf<'team.list'>): string[] {
  return teams.filter(({ status }) => status !== 'cleaned-up').map(({ name }) => name);
}

/** With more teams than this, people look at one: troupe team status. */
const TEAMS_ASKED = 50;

/** The members of open teams, by team, to show which teams are stopped. */
export async function membersOfOpen(
  client: Client,
  teams: ResultOf<'team.list'>,
  signal?: AbortSignal,
): Promise<Map<string, ResultOf<'member.list'>>> {
  const active = teams.filter(({ status, problem }) => status === 'active' && problem === undefined);
  const lists = active.slice(0, TEAMS_ASKED).map(async ({ name }) => {
    // A team that is deleted meanwhile must not fail the others.
    const members = await client.call('member.list', { teamId: name }, { ...(signal && { signal }) }).catch(() => []);
    return [name, members] as const;
  });
  return new Map(await Promise.all(lists));
}
