import { CallError } from '../../client/client.ts';
import type { Client } from '../../client/client.ts';
import { parentsOf, pathTo } from '../../core/inner-path.ts';
import { findNearest } from '../../core/nearest.ts';
import type { ResultOf } from '../../operations/index.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { newCommandId } from '../reach/call.ts';
import { openClient } from '../reach/connect.ts';
import { findWithInner } from '../reach/open-teams.ts';
import { Refusal, UsageError } from '../show/errors.ts';
import { fold } from '../show/text.ts';
import { describeAnswer, describeJudged, waitingBlocks } from '../show/views/waiting.ts';
import { print, toJson } from '../show/write.ts';

/** A request, with the way to its member if that is in a team inside of another. */
export type Request = ResultOf<'request.list'>[number] & {
  readonly path?: string | undefined;
  /** The member of the named team in which that team is. */
  readonly through?: string | undefined;
};

interface Answer {
  readonly requestId?: string;
  readonly teamId?: string;
  readonly deny?: boolean;
  readonly again?: boolean;
  readonly feedback?: string;
  readonly comments?: readonly string[];
  readonly more?: number;
  readonly revision?: string;
}

/** Lists the requests that wait for a person, in all teams; or answers one of them. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const {
    requestId,
    teamId,
    deny = false,
    again = false,
    feedback,
    comments = [],
    more,
    revision,
  } = given.input as Answer;
  if (requestId === undefined && (deny || again || [feedback, more, comments[0]].some((one) => one !== undefined))) {
    throw new UsageError('Which request? Name its member or its id: troupe approve lists them', 'approve');
  }
  if (again && (deny || feedback !== undefined)) {
    throw new UsageError('--again is neither yes nor no: omit --deny and --feedback', 'approve');
  }
  if (comments.length > 0 && !deny) {
    throw new UsageError('Comments send the work back: add --deny, or say it with --feedback', 'approve');
  }
  const client = openClient(environment);
  try {
    const waiting = await findWaiting(client, teamId, signal);
    if (requestId === undefined) {
      if (given.json) print(toJson(waiting, screen.isTerminal ? 2 : undefined));
      else if (waiting.length === 0) print('Nothing waits for you.\n');
      else print(waitingBlocks(waiting, screen, teamId));
      return 0;
    }
    const request = findRequest(waiting, requestId);
    const answered = again
      ? await judgeAgain(client, request, signal)
      : await answer(client, request, { approve: !deny, feedback, comments, more, revision, signal });
    if (given.json) print(toJson(answered, screen.isTerminal ? 2 : undefined));
    else print(fold(`${again ? describeJudged(answered) : describeAnswer(answered)}\n`, screen));
    return 0;
  } finally {
    client.close();
  }
}

/** Finds a request by its id, or by its member if only one request of that member waits: ids are long. */
export function findRequest(waiting: readonly Request[], named: string): Request {
  const exact = waiting.filter(({ id }) => id === named);
  const found = exact.length > 0 ? exact : waiting.filter(({ memberId, path }) => memberId === named || path === named);
  const [request, ...others] = found;
  if (!request) throw new Refusal('not_found', `No request of ${named} waits for you${hintRequest(waiting, named)}`);
  if (others.length === 0) return request;
  const ids = found.map(({ id }) => `\n  troupe approve ${id}`).join('');
  throw new Refusal('conflict', `${found.length} requests of ${named} wait for you: name one by its id.${ids}`);
}

function hintRequest(waiting: readonly Request[], named: string): string {
  if (waiting.length === 0) return ', and none of anybody else';
  const meant = findNearest(named, [
    ...new Set(waiting.flatMap(({ id, memberId, path = memberId }) => [memberId, path, id])),
  ]);
  return meant === undefined ? ': troupe approve lists them' : `; did you mean ${meant}? troupe approve lists them`;
}

/** Shutdown requests are left out: the member that should stop answers them. */
export async function findWaiting(client: Client, teamId: string | undefined, signal: AbortSignal): Promise<Request[]> {
  // Requests of teams inside of its members come up to a team.
  const { open, all } = await findWithInner(client, teamId, { signal });
  const lists = await Promise.all(
    open.map((name) => client.call('request.list', { teamId: name, status: 'pending' }, { signal })),
  );
  return lists
    .flat()
    .filter(({ kind }) => kind !== 'shutdown')
    .map((request) => {
      const path = pathTo(all, request.teamId, request.memberId);
      if (path === undefined) return request;
      const through = parentsOf(all, request.teamId).find((parent) => parent.teamId === teamId)?.memberId;
      return { ...request, path, ...(through !== undefined && { through }) };
    });
}

interface Given {
  readonly approve: boolean;
  readonly feedback: string | undefined;
  readonly choice?: string | undefined;
  readonly comments: readonly string[];
  /** Of a budget: how much more. */
  readonly more?: number | undefined;
  /** What the person looked at, if they say so. */
  readonly revision?: string | undefined;
  readonly signal: AbortSignal;
}

/** Answers a request with the operation for its kind. */
export async function answer(
  client: Client,
  { id: requestId, teamId, kind, detail, revision: found }: Request,
  { approve, feedback, choice, comments, more, revision = found, signal }: Given,
): Promise<Request & Pick<ResultOf<'request.answer'>, 'unsaved'>> {
  const options = { signal, commandId: newCommandId() };
  const said = {
    teamId,
    requestId,
    ...(revision !== undefined && { revision }),
    ...(feedback !== undefined && { feedback }),
  };
  // The answer is about what was shown.
  const commit = detail?.['commit'];
  const about = {
    ...(typeof commit === 'string' && { commit }),
    ...(choice !== undefined && { choice }),
    ...(more !== undefined && { grants: more }),
    ...(comments.length > 0 && { comments: [...comments] }),
  };
  if (kind !== 'plan') return client.call('request.answer', { ...said, ...about, approve }, options);
  if (more !== undefined) throw new Refusal('invalid', '--more is only for budgets, and this is a plan: omit it');
  if (comments.length > 0) {
    throw new Refusal('invalid', 'Comments are about lines of work: answer a plan with --feedback');
  }
  return client.call(approve ? 'plan.approve' : 'plan.reject', said, options);
}

/** Runs the gate again on the current work. If it rejects, that is an error, and the request still waits. */
async function judgeAgain(
  client: Client,
  { id: requestId, teamId, kind, memberId }: Request,
  signal: AbortSignal,
): Promise<Request> {
  if (kind !== 'gate') {
    throw new Refusal(
      'invalid',
      `--again is only for gates, and this is a ${kind} of ${memberId}: leave it out for yes, or use --deny for no`,
    );
  }
  try {
    return await client.call('request.judge', { teamId, requestId }, { signal, commandId: newCommandId() });
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'gate_rejected') throw error;
    throw new Refusal('gate_rejected', `The gate did not accept it, and it still waits for you: ${error.message}`);
  }
}
