import type { Arguments } from './arguments.ts';
import { openClient } from './connect.ts';
import { findOpenTeams } from './open-teams.ts';
import type { Surroundings } from './own.ts';
import { sessionTable } from './views/member.ts';
import { print, toJson } from './write.ts';

/** Who runs, on which team, in which process. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const client = openClient(environment);
  try {
    const { teamId } = given.input as { teamId?: string };
    const open = await findOpenTeams(client, teamId, { signal });
    const lists = await Promise.all(open.map((name) => client.call('session.list', { teamId: name }, { signal })));
    const sessions = lists.flat().filter(({ pid }) => pid !== undefined);
    if (given.json) print(toJson(sessions, screen.isTerminal ? 2 : undefined));
    else print(sessionTable(sessions, screen));
    return 0;
  } finally {
    client.close();
  }
}
