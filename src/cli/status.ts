import type { Arguments } from './arguments.ts';
import { openClient } from './connect.ts';
import type { Surroundings } from './own/own-command.ts';
import { show } from './show.ts';
import { print } from './write.ts';

/** How the daemon is; for people, also the teams it has. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const client = openClient(environment);
  try {
    const status = await client.call('daemon.status', {}, { signal });
    await show('daemon.status', status, { json: given.json, screen });
    if (given.json) return 0;
    const teams = await client.call('team.list', {}, { signal });
    print('\n');
    await show('team.list', teams, { json: false, screen });
  } finally {
    client.close();
  }
  return 0;
}
