import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { membersOfOpen } from '../reach/open-teams.ts';
import { isAtRest, restLine } from '../show/rest.ts';
import { show } from '../show/result.ts';
import { fold } from '../show/text.ts';
import { waitingLines } from '../show/views/member.ts';
import { teamTable } from '../show/views/team.ts';
import { print } from '../show/write.ts';

/** The status of the daemon; for people, also its teams, and which members wait and why. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const client = openClient(environment);
  try {
    const status = await client.call('daemon.status', {}, { signal });
    await show('daemon.status', status, { json: given.json, screen });
    if (given.json) return 0;
    const teams = await client.call('team.list', {}, { signal });
    print('\n');
    const members = await membersOfOpen(client, teams, signal);
    print(fold(teamTable(teams, screen, members), screen));
    print(fold([...members.values()].map((list) => waitingLines(list)).join(''), screen));
    const resting = teams.filter(({ name, tasks, completedTasks }) => {
      const isOver = tasks > 0 && completedTasks === tasks;
      return isAtRest(members.get(name) ?? []) && !isOver;
    });
    const lines = resting.map(async ({ name }) =>
      // A team that is deleted meanwhile has no line.
      client.call('team.status', { teamId: name }, { signal }).then(restLine, () => ''),
    );
    if (lines.length > 0) print(fold(`\n${(await Promise.all(lines)).join('')}`, screen));
  } finally {
    client.close();
  }
  return 0;
}
