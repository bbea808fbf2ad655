import type { Client } from '../../client/client.ts';
import type { InputOf } from '../../operations/index.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { newCommandId } from '../reach/call.ts';
import { openClient } from '../reach/connect.ts';
import { findNotHandedIn } from '../show/not-handed-in.ts';
import { show } from '../show/result.ts';
import { clean, fold } from '../show/text.ts';
import { showRemaining } from '../show/time.ts';
import { print, warn, warnPeople } from '../show/write.ts';

/** As long as the operation waits if nobody says how long. Milliseconds. */
const WITHIN_MS = 30_000;

/** Shuts a team down. Says who is asked, and afterwards who refused or did not answer. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const input = given.input as unknown as InputOf<'team.down'>;
  const { teamId, force = false, within = WITHIN_MS } = input;
  const client = openClient(environment);
  let isUnderWay = false;
  try {
    const isTold = !given.json && !force;
    const asked = isTold ? await findLive(client, teamId, signal) : [];
    if (asked.length > 0) {
      const most = `${showRemaining(within)} at most; --now does not ask`;
      warn(fold(`Asking ${asked.map(clean).join(', ')} to stop (${most}).\n`, screen));
    }
    const since = new Date().toISOString();
    const options = { signal, commandId: newCommandId(), ...(given.as !== undefined && { as: given.as }) };
    isUnderWay = true;
    const result = await client.call('team.down', input, options);
    isUnderWay = false;
    if (isTold) for (const line of await describeRefusals(client, { teamId, since, signal })) warn(fold(line, screen));
    await show('team.down', result, { json: given.json, screen });
    if (given.json) return 0;
    for (const line of await findNotHandedIn(client, { teamId, isOpen: false, signal })) {
      print(fold(`${line}\n`, screen));
    }
    return 0;
  } catch (error) {
    // Its members were asked already. The daemon does not take that back.
    if (isUnderWay && signal.aborted) {
      warnPeople(`troupe: The daemon goes on and closes team ${clean(teamId)}: troupe ps shows who still runs\n`);
    }
    throw error;
  } finally {
    client.close();
  }
}

async function findLive(client: Client, teamId: string, signal: AbortSignal): Promise<string[]> {
  const members = await client.call('member.list', { teamId }, { signal });
  return members.filter(({ agent, status }) => agent !== undefined && status !== 'stopped').map(({ id }) => id);
}

/** Members that did not agree were stopped all the same. */
async function describeRefusals(
  client: Client,
  { teamId, since, signal }: { teamId: string; since: string; signal: AbortSignal },
): Promise<string[]> {
  const requests = await client.call('request.list', { teamId, kind: 'shutdown' }, { signal });
  return requests
    .filter(({ requestedAt, answeredBy, memberId }) => requestedAt >= since && answeredBy !== memberId)
    .concat(requests.filter(({ requestedAt, status }) => requestedAt >= since && status === 'rejected'))
    .map(({ memberId, status, feedback }) => {
      const why = feedback ? `: ${clean(feedback)}` : '';
      return status === 'rejected'
        ? `${clean(memberId)} refused${why}. It was stopped; its work is kept.\n`
        : `${clean(memberId)} did not answer in time. It was stopped; its work is kept.\n`;
    });
}
