import type { Command } from './command.ts';
import { openClient } from './connect.ts';
import { UsageError } from './errors.ts';
import { whichTeam } from './misuse.ts';
import { findOpenTeams } from './open-teams.ts';

/** So many names are easily read at a glance. */
const FEW = 8;

/** The team that is meant where nobody names one: the only one that is open. Refuses to guess between several. */
export async function findOnlyTeam(environment: NodeJS.ProcessEnv, command: Command): Promise<string> {
  const client = openClient(environment);
  try {
    const open = await findOpenTeams(client, undefined);
    const [only, ...others] = open;
    if (only !== undefined && others.length === 0) return only;
    throw new UsageError(whichTeam(command, describeOpen(open)), command.words);
  } finally {
    client.close();
  }
}

function describeOpen(open: readonly string[]): string {
  if (open.length === 0) return 'none is open; troupe teams lists all';
  return open.length > FEW ? `${open.length} are open; troupe teams lists them` : `${open.join(', ')} are open`;
}
