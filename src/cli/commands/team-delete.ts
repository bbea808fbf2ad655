import type { Client } from '../../client/client.ts';
import type { ResultOf } from '../../operations/index.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { newCommandId } from '../reach/call.ts';
import { openClient } from '../reach/connect.ts';
import { gitIn } from '../reach/git.ts';
import { askYesNo } from '../show/ask.ts';
import { Refusal } from '../show/errors.ts';
import { show } from '../show/result.ts';
import { clean } from '../show/text.ts';
import { count } from '../show/views/details.ts';

type TeamWork = NonNullable<ResultOf<'team.show'>['work']>;

interface Given {
  readonly teamId: string;
  readonly yes?: boolean;
  readonly force?: boolean;
}

/** Deletes a team for good. At a terminal it asks for confirmation; a script cannot be asked. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { teamId, yes = false, force = false } = given.input as unknown as Given;
  const client = openClient(environment);
  try {
    if (!yes && process.stdin.isTTY && process.stderr.isTTY) {
      const what = await describeLoss(client, teamId, { environment, signal });
      const isSure = await askYesNo(`Delete team ${clean(teamId)}${what} permanently?`, signal);
      if (!isSure) throw new Refusal('conflict', `Team ${teamId} is still there: nothing was deleted`);
    }
    const options = { signal, commandId: newCommandId(), ...(given.as !== undefined && { as: given.as }) };
    const result = await client.call('team.delete', { teamId, ...(force && { force }) }, options);
    await show('team.delete', result, { json: given.json, screen });
    return 0;
  } finally {
    client.close();
  }
}

/** Names a branch that is not in the checkout. Its commits stay in the depot, but nothing shows them any more. */
function describeUnmerged({ repository, tip, base, branch }: TeamWork, environment: NodeJS.ProcessEnv): string {
  if (tip === base) return '';
  const isMerged = gitIn(repository, environment)(['merge-base', '--is-ancestor', tip, 'HEAD']).code === 0;
  return isMerged ? '' : ` although ${clean(branch)} was never merged into ${clean(repository)} (troupe merge),`;
}

/** Describes what would be lost. That is unknown for an unreadable team; an unknown team is an error. */
async function describeLoss(
  client: Client,
  teamId: string,
  { environment, signal }: Pick<Surroundings, 'environment' | 'signal'>,
): Promise<string> {
  const teams = await client.call('team.list', {}, { signal });
  const team = teams.find(({ name }) => name === teamId);
  if (!team) await client.call('team.show', { teamId }, { signal });
  if (!team || team.problem !== undefined) return '';
  const { work } = await client.call('team.show', { teamId }, { signal });
  const unmerged = work ? describeUnmerged(work, environment) : '';
  return `, with ${count(team.members, 'member')}, ${count(team.tasks, 'task')} and all records,${unmerged}`;
}
