import type { Client } from '../client/client.ts';
import type { ResultOf } from '../operations/index.ts';
import type { Arguments } from './arguments.ts';
import { newCommandId } from './call.ts';
import { openClient } from './connect.ts';
import { Refusal } from './errors.ts';
import { findOpenTeams } from './open-teams.ts';
import type { Surroundings } from './own.ts';
import { clean } from './text.ts';
import { requestTable } from './views/request.ts';
import { print, toJson } from './write.ts';

type Request = ResultOf<'request.list'>[number];

interface Answer {
  readonly requestId?: string;
  readonly teamId?: string;
  readonly deny?: boolean;
  readonly feedback?: string;
}

/** What waits for a person, in all teams; or the answer to one of them, whatever it is. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { requestId, teamId, deny = false, feedback } = given.input as Answer;
  const client = openClient(environment);
  try {
    const waiting = await findWaiting(client, teamId, signal);
    if (requestId === undefined) {
      if (given.json) print(toJson(waiting, screen.isTerminal ? 2 : undefined));
      else if (waiting.length === 0) print('Nothing waits for you.\n');
      else print(`${requestTable(waiting, screen)}\nAnswer with troupe approve <request>, or --deny.\n`);
      return 0;
    }
    const request = waiting.find(({ id }) => id === requestId);
    if (!request) {
      throw new Refusal('not_found', `Nothing of this id waits for you: ${requestId}. troupe approve lists what does.`);
    }
    const answered = await answer(client, request, { approve: !deny, feedback, signal });
    if (given.json) print(toJson(answered, screen.isTerminal ? 2 : undefined));
    else {
      const what = `${clean(answered.kind)} ${clean(answered.id)} of ${clean(answered.memberId)}`;
      print(`The ${what} is ${answered.status}.\n`);
    }
    return 0;
  } finally {
    client.close();
  }
}

/** Shutdowns are answered by those whom they concern. */
async function findWaiting(client: Client, teamId: string | undefined, signal: AbortSignal): Promise<Request[]> {
  const open = await findOpenTeams(client, teamId, { signal });
  const lists = await Promise.all(
    open.map((name) => client.call('request.list', { teamId: name, status: 'pending' }, { signal })),
  );
  return lists.flat().filter(({ kind }) => kind !== 'shutdown');
}

async function answer(
  client: Client,
  { id: requestId, teamId, kind }: Request,
  { approve, feedback, signal }: { approve: boolean; feedback: string | undefined; signal: AbortSignal },
): Promise<Request> {
  const options = { signal, commandId: newCommandId() };
  const said = { teamId, requestId, ...(feedback !== undefined && { feedback }) };
  if (kind !== 'plan') return client.call('request.answer', { ...said, approve }, options);
  return client.call(approve ? 'plan.approve' : 'plan.reject', said, options);
}
