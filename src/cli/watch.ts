import type { Client } from '../client/client.ts';
import type { Arguments } from './arguments.ts';
import { openClient } from './connect.ts';
import { INTERRUPTED } from './errors.ts';
import type { Surroundings } from './own.ts';
import { printBatches } from './watch/lines.ts';
import { watchLive } from './watch/live.ts';

/** Where to start when nobody says: with the last ten batches, as `tail -f` does with lines. */
const LAST = 10;

/** Follows a team: live on a terminal, line by line elsewhere, until the user has seen enough. */
export async function run(given: Arguments, { screen, ...surroundings }: Surroundings): Promise<number> {
  const { teamId, after, plain } = given.input as { teamId: string; after?: number; plain?: boolean };
  const { environment, signal } = surroundings;
  if (screen.isTerminal && process.stdin.isTTY && !given.json && !plain) return watchLive(teamId, surroundings);
  const client = openClient(environment, { patience: Infinity });
  try {
    const from = after ?? (await lastBatches(client, teamId, signal));
    await printBatches(client, { teamId, after: from, json: given.json, screen, signal });
    return INTERRUPTED;
  } finally {
    client.close();
  }
}

async function lastBatches(client: Client, teamId: string, signal: AbortSignal): Promise<number> {
  const { seq } = await client.call('team.status', { teamId }, { signal });
  return Math.max(0, seq - LAST);
}
