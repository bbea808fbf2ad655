import type { Arguments } from './arguments.ts';
import { openClient } from './connect.ts';
import type { Surroundings } from './own/own-command.ts';
import { show } from './show.ts';

/** The teams that there are: Troupe's, or with --native Claude Code's own. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const client = openClient(environment);
  try {
    const operation = given.input['native'] === true ? 'native.list' : 'team.list';
    const answer = await client.call(operation, {}, { signal });
    await show(operation, answer, { json: given.json, screen, input: given.input });
    return 0;
  } finally {
    client.close();
  }
}
