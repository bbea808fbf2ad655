import { CallError } from '../../../client/client.ts';
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

/** The variables of a team without a file. If its agents are refused, `team.run` says why, in its own words. */
export async function environmentOfRun(
  client: Client,
  { lead = 'claude', with: others, folder }: { lead?: string; with: readonly string[]; folder: string },
  surroundings: { readonly environment: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<Record<string, string> | undefined> {
  const members = others.map((agent, i) => ({ name: `member-${i}`, agent }));
  const source = JSON.stringify({ team: 'run', lead: { agent: lead }, members });
  try {
    return (await checkTeam(client, { source, name: 'run', folder }, surroundings)).given;
  } catch (error) {
    if (error instanceof CallError && error.code === 'invalid') return undefined;
    throw error;
  }
}
