import type { Client } from '../../../client/client.ts';
import { pickVariables } from '../../../core/variables.ts';
import type { ResultOf } from '../../../operations/index.ts';

/** A team file, as the daemon gets it. */
interface Source {
  readonly source: string;
  readonly name: string;
  readonly folder: string;
}

/**
 * Checks a team file, and takes the variables of its team from our environment: others don't leave this process. Its
 * programs are searched on our PATH, not on that of whoever started the daemon.
 */
export async function checkTeam(
  client: Client,
  team: Source,
  { environment, signal }: { readonly environment: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<{ found: ResultOf<'team.check'>; given: Record<string, string> }> {
  const found = await client.call('team.check', team, { signal });
  const { usual, named } = found.variables ?? { usual: [], named: [] };
  const given = pickVariables(environment, [...usual, ...named]);
  if ((found.unrunnable ?? []).length === 0) return { found, given };
  return { found: await client.call('team.check', { ...team, environment: given }, { signal }), given };
}
