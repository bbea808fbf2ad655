import type { Client } from '../../client/client.ts';
import type { Scope } from '../../operations/caller.ts';
import { Refusal } from '../show/errors.ts';
import { NO_TEAM } from '../show/words.ts';
import { openClient } from './connect.ts';
import { warnOfUnreadable } from './open-teams.ts';
import { isOpen, teamsHere } from './teams-here.ts';

/** Teams that a command may be about. */
export interface FoundTeams {
  readonly names: readonly string[];
  /** Whether they are the teams of the folder. Otherwise they are all open ones. */
  readonly areHere: boolean;
}

/**
 * Finds the teams that a command may be about if its words name none. If the caller acts for a member, those that have it
 * count. Refused if there is no team at all.
 */
export async function findCandidates(
  about: { readonly mayBeClosed?: true; readonly scope?: Scope },
  as: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<FoundTeams> {
  const client = openClient(environment);
  try {
    // Nothing can be added to a closed team, but people look at one.
    const mayBeClosed = about.mayBeClosed === true || about.scope === 'reader';
    const found = await findTeamsWith(client, as, { mayBeClosed, environment });
    // If nobody has such a member, the refusal of the call itself says so.
    if (found.names.length > 0 || as === undefined) return found;
    return await findTeamsWith(client, undefined, { mayBeClosed, environment });
  } finally {
    client.close();
  }
}

/** The teams of the working directory, else all open ones; only those with the member, if one is named. */
export async function findTeamsWith(
  client: Client,
  memberId: string | undefined,
  { mayBeClosed, environment }: { readonly mayBeClosed: boolean; readonly environment: NodeJS.ProcessEnv },
): Promise<FoundTeams> {
  const list = await client.call('team.list', {});
  if (list.length === 0) throw new Refusal('not_found', NO_TEAM);
  // A team that is deleted meanwhile must not fail the others.
  const shown = list
    .filter(({ problem }) => problem === undefined)
    .map(({ name: teamId }) => client.call('team.show', { teamId }).catch(() => undefined));
  const teams = (await Promise.all(shown))
    .filter((team) => team !== undefined)
    .filter(({ members }) => memberId === undefined || members.some(({ id }) => id === memberId));
  const here = teamsHere(teams, environment);
  const near = mayBeClosed && !here.some(isOpen) ? here : here.filter(isOpen);
  if (near.length > 0) return { names: near.map(({ name }) => name), areHere: true };
  warnOfUnreadable(list);
  return { names: teams.filter(isOpen).map(({ name }) => name), areHere: false };
}
