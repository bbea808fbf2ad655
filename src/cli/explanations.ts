import { CallError } from '../client/errors.ts';
import { findNearest } from '../client/nearest.ts';

/** So many names are easily read at a glance. */
const FEW = 8;

/** An error about a team that is not there, with the one that was probably meant; any other error as it is. */
export async function explainUnknownTeam(error: unknown, teamId: unknown): Promise<unknown> {
  if (!(error instanceof CallError) || error.code !== 'not_found' || typeof teamId !== 'string') return error;
  const names = await listTeams();
  if (names.length === 0 || names.includes(teamId)) return error;
  const nearest = findNearest(teamId, names);
  const others = names.length <= FEW ? `; there is ${names.join(', ')}` : '; list them with troupe teams';
  const hint = nearest === undefined ? others : `; did you mean ${nearest}?`;
  return new CallError('not_found', `There is no team ${JSON.stringify(teamId)}${hint}`);
}

/** A member may not see other teams; whoever may not is told no more than before. */
async function listTeams(): Promise<string[]> {
  const { openClient } = await import('./connect.ts');
  const client = openClient(process.env, { start: false });
  try {
    const teams = await client.call('team.list', {}, { signal: AbortSignal.timeout(2_000) });
    return teams.map(({ name }) => name);
  } catch {
    return [];
  } finally {
    client.close();
  }
}
