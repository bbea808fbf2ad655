import type { Client } from '../client/client.ts';
import type { ResultOf } from '../operations/index.ts';
import type { Arguments } from './arguments.ts';
import { newCommandId } from './call.ts';
import { openClient } from './connect.ts';
import { Refusal } from './errors.ts';
import { findOpenTeams } from './open-teams.ts';
import type { Surroundings } from './own/own-command.ts';
import { clean, fold } from './text.ts';
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
      else print(`${requestTable(waiting, screen, { teams: true })}\n${fold(howToAnswer(waiting), screen, 2)}`);
      return 0;
    }
    const answered = await answer(client, findRequest(waiting, requestId), { approve: !deny, feedback, signal });
    if (given.json) print(toJson(answered, screen.isTerminal ? 2 : undefined));
    else {
      const what = `${clean(answered.kind)} ${clean(answered.id)} of ${clean(answered.memberId)}`;
      print(fold(`The ${what} is ${answered.status}.\n`, screen));
    }
    return 0;
  } finally {
    client.close();
  }
}

/** By its id, or by the name of a member of whom nothing else waits: ids are long. */
function findRequest(waiting: readonly Request[], named: string): Request {
  const exact = waiting.filter(({ id }) => id === named);
  const found = exact.length > 0 ? exact : waiting.filter(({ memberId }) => memberId === named);
  const [request, ...others] = found;
  if (!request) {
    throw new Refusal('not_found', `Nothing of this id waits for you: ${named}. troupe approve lists what does.`);
  }
  if (others.length === 0) return request;
  const ids = found.map(({ id }) => `\n  troupe approve ${id}`).join('');
  throw new Refusal('conflict', `${found.length} requests of ${named} wait for you: say which.${ids}`);
}

/** What an answer does, by what is asked. */
const MEANINGS: Readonly<Record<Exclude<Request['kind'], 'shutdown'>, { yes: string; no: string }>> = {
  permission: { yes: 'it is done', no: 'it is not done, and the agent is told so' },
  plan: { yes: 'the work begins', no: 'another plan is made' },
  gate: { yes: 'the task counts as completed', no: 'the task goes back to be done again' },
  budget: { yes: 'as much again may be used', no: 'no new turn begins' },
  restart: { yes: 'the member is started again', no: 'the member stays stopped' },
};

/** How to say yes and no, and what each means for the kinds of requests that wait. */
function howToAnswer(waiting: readonly Request[]): string {
  const kinds = [...new Set(waiting.map(({ kind }) => kind))].filter((kind) => kind !== 'shutdown');
  const lines = kinds.map((kind) => `  ${kind.padEnd(10)}  yes: ${MEANINGS[kind].yes}; --deny: ${MEANINGS[kind].no}\n`);
  return `Say yes with troupe approve <request or member>, no with --deny, and why with --feedback.\n${lines.join('')}`;
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
