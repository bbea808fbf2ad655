import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { whyOver } from '../reach/over.ts';
import { isAtRest, restLine } from '../show/rest.ts';
import { warn } from '../show/write.ts';
import { printBatches } from './watch/lines.ts';
import { watchLive } from './watch/live.ts';

/** How many batches are shown first by default, as `tail -f` does with lines. */
const LAST = 10;

/** Follows a team until it is closed or the user leaves: live on a terminal, line by line elsewhere. */
export async function run(given: Arguments, { screen, ...surroundings }: Surroundings): Promise<number> {
  const { teamId, after, plain } = given.input as { teamId: string; after?: number; plain?: boolean };
  const { environment, signal } = surroundings;
  if (screen.isTerminal && process.stdin.isTTY && !given.json && !plain) return watchLive(teamId, surroundings);
  const client = openClient(environment, { patience: Infinity });
  try {
    const { why, seq } = await whyOver(client, { teamId, signal });
    const report = await client.call('team.status', { teamId }, { signal });
    // JSON output contains only batches. People are told that the team is stopped, so that they don't wait for nothing.
    if (why === undefined && !given.json && isAtRest(report.team.members)) warn(restLine(report));
    const from = after ?? Math.max(0, seq - LAST);
    await printBatches(client, {
      teamId,
      after: from,
      ...(why !== undefined && { upTo: seq }),
      json: given.json,
      screen,
      signal,
    });
    warn(`Team ${teamId} is closed.\n`);
    return 0;
  } finally {
    client.close();
  }
}
