import type { Arguments } from './arguments.ts';
import { openClient } from './connect.ts';
import type { Surroundings } from './own.ts';
import { table } from './table.ts';
import { showTime } from './time.ts';
import { print, toJson } from './write.ts';

/** Who runs, on which team, in which process. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const client = openClient(environment);
  try {
    const { teamId } = given.input as { teamId?: string };
    const teams =
      teamId === undefined ? await client.call('team.list', {}, { signal }) : [{ name: teamId, status: 'active' }];
    const open = teams.filter(({ status }) => status !== 'cleaned-up');
    const lists = await Promise.all(open.map(({ name }) => client.call('session.list', { teamId: name }, { signal })));
    const sessions = lists.flat().filter(({ pid }) => pid !== undefined);
    if (given.json) print(toJson(sessions, screen.isTerminal ? 2 : undefined));
    else if (sessions.length === 0) print('No teammate runs.\n');
    else {
      const rows = sessions.map(({ teamId: team, memberId, teamRole, status, pid, startedAt }) => [
        team,
        memberId,
        teamRole,
        { text: status, style: status === 'active' ? ('yellow' as const) : ('dim' as const) },
        String(pid),
        { text: showTime(startedAt, screen), style: 'dim' as const },
      ]);
      const columns = ['TEAM', 'NAME', 'ROLE', 'STATUS', 'PID', 'STARTED'].map((title) => ({ title }));
      print(table(columns, rows, screen));
    }
    return 0;
  } finally {
    client.close();
  }
}
