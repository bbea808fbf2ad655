import type { Client } from '../../client/client.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { newCommandId } from '../reach/call.ts';
import { openClient } from '../reach/connect.ts';
import { describeUnmerged } from '../reach/team-work.ts';
import { askYesNo } from '../show/ask.ts';
import { Refusal } from '../show/errors.ts';
import { show } from '../show/result.ts';
import { clean, fold } from '../show/text.ts';
import { count } from '../show/views/details.ts';
import { warn } from '../show/write.ts';

interface Given {
  readonly teamId: string;
  readonly yes?: boolean;
  readonly force?: boolean;
}

/** Deletes a team for good. At a terminal it asks for confirmation; a script says --yes. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { teamId, yes = false, force = false } = given.input as unknown as Given;
  const client = openClient(environment);
  try {
    const loss = yes ? '' : await describeLoss(client, teamId, signal);
    if (!yes && (!process.stdin.isTTY || !process.stderr.isTTY)) {
      throw new Refusal('invalid', `This would delete team ${clean(teamId)}${loss} permanently: say so with --yes`);
    }
    const unmerged = await describeUnmerged(client, { teamId, isDeleted: yes }, { environment, signal });
    if (!yes) {
      if (unmerged !== '') warn(fold(unmerged, screen));
      const isSure = await askYesNo(`Delete team ${clean(teamId)}${loss} permanently?`, signal);
      if (!isSure) throw new Refusal('conflict', `Team ${teamId} is still there: nothing was deleted`);
    }
    const options = { signal, commandId: newCommandId(), ...(given.as !== undefined && { as: given.as }) };
    const result = await client.call('team.delete', { teamId, ...(force && { force }) }, options);
    await show('team.delete', result, { json: given.json, screen });
    if (unmerged !== '' && yes) warn(fold(unmerged, screen));
    return 0;
  } finally {
    client.close();
  }
}

/** Describes what would be lost. That is unknown for an unreadable team; an unknown team is an error. */
async function describeLoss(client: Client, teamId: string, signal: AbortSignal): Promise<string> {
  const teams = await client.call('team.list', {}, { signal });
  const team = teams.find(({ name }) => name === teamId);
  if (!team) await client.call('team.show', { teamId }, { signal });
  if (!team || team.problem !== undefined) return '';
  return `, with ${count(team.members, 'member')}, ${count(team.tasks, 'task')} and all records,`;
}
