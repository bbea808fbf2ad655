import { parseArgs } from 'node:util';
import { homeAt } from '../../client/home.ts';
import { TeamError } from '../../core/errors.ts';
import { runTeammateProcess } from '../../teammate.ts';

/** `troupe --teammate --team T --agent A --base-dir D`: runs one teammate in its own process. The daemon starts it. */
export async function runTeammateCommand(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      teammate: { type: 'boolean' },
      team: { type: 'string' },
      agent: { type: 'string' },
      'base-dir': { type: 'string' },
    },
  });
  const { team, agent, 'base-dir': directory } = values;
  if (team === undefined || agent === undefined || directory === undefined) {
    console.error('troupe --teammate needs --team, --agent and --base-dir: the daemon gives them');
    return 2;
  }
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  process.once('SIGINT', () => stop.abort());
  try {
    return await runTeammateProcess({
      teamId: team,
      memberId: agent,
      home: homeAt(directory),
      environment: process.env,
      signal: stop.signal,
      // The last line is the reason that people see if it crashes.
      onError: (error) => console.error(error instanceof TeamError ? error.message : error),
    });
  } catch (error) {
    // The lead is told the last line of the log.
    console.error((error as Error).message.replaceAll('\n', ' '));
    return 1;
  }
}
