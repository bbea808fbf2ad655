import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { showDifference } from '../show/views/diff.ts';
import { print, toJson } from '../show/write.ts';

/** Shows what the team, a task or a member changed. Lines are not wrapped: they are code. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const {
    teamId,
    of,
    path,
    stat = false,
  } = given.input as {
    teamId: string;
    of?: string;
    path?: string;
    stat?: boolean;
  };
  const client = openClient(environment);
  try {
    const asked = {
      teamId,
      stat,
      ...(of !== undefined && { of: of.replace(/^#/, '') }),
      ...(path !== undefined && { path }),
    };
    const diff = await client.call('work.diff', asked, { signal });
    print(given.json ? toJson(diff, screen.isTerminal ? 2 : undefined) : showDifference(diff, screen, { stat }));
    return 0;
  } finally {
    client.close();
  }
}
