import type { Client } from '../../client/client.ts';
import type { ResultOf } from '../../operations/index.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { membersOfOpen } from '../reach/open-teams.ts';
import { show } from '../show/result.ts';
import type { Screen } from '../show/screen.ts';
import { fold } from '../show/text.ts';
import { teamTable } from '../show/views/team.ts';
import { print } from '../show/write.ts';

/** Lists the teams: Troupe's, or with --native Claude Code's own. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const client = openClient(environment);
  try {
    const operation = given.input['native'] === true ? 'native.list' : 'team.list';
    const answer = await client.call(operation, {}, { signal });
    if (operation === 'team.list' && !given.json) {
      await printTeams(client, answer as ResultOf<'team.list'>, screen, signal);
    } else await show(operation, answer, { json: given.json, screen, input: given.input });
    return 0;
  } finally {
    client.close();
  }
}

/** Prints the teams for people, with the stopped ones marked. */
export async function printTeams(
  client: Client,
  teams: ResultOf<'team.list'>,
  screen: Screen,
  signal?: AbortSignal,
): Promise<void> {
  print(fold(teamTable(teams, screen, await membersOfOpen(client, teams, signal)), screen));
}
