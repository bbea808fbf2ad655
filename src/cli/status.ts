import type { Arguments } from './arguments.ts';
import { openClient } from './connect.ts';
import type { Surroundings } from './own/own-command.ts';
import { show } from './show.ts';
import { isAtRest, restLine } from './stopped.ts';
import { fold } from './text.ts';
import { waitingLines } from './views/member.ts';
import { print } from './write.ts';

/** Whoever has more of them looks at one: troupe team status. */
const TEAMS_ASKED = 50;

/** How the daemon is; for people, also the teams it has, and which members wait and why. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const client = openClient(environment);
  try {
    const status = await client.call('daemon.status', {}, { signal });
    await show('daemon.status', status, { json: given.json, screen });
    if (given.json) return 0;
    const teams = await client.call('team.list', {}, { signal });
    print('\n');
    await show('team.list', teams, { json: false, screen });
    const active = teams.filter(({ status }) => status === 'active').slice(0, TEAMS_ASKED);
    const lists = await Promise.all(active.map(({ name }) => client.call('member.list', { teamId: name }, { signal })));
    print(lists.map((members) => waitingLines(members)).join(''));
    const resting = active.flatMap((team, i) => {
      const members = lists[i] ?? [];
      const isOver = team.tasks > 0 && team.completedTasks === team.tasks;
      return isAtRest(members) && !isOver ? [restLine(team.name, members)] : [];
    });
    if (resting.length > 0) print(fold(`\n${resting.join('')}`, screen));
  } finally {
    client.close();
  }
  return 0;
}
