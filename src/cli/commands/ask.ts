import type { Client } from '../../client/client.ts';
import { TeamError } from '../../core/errors.ts';
import { answerMessageId } from '../../core/question.ts';
import type { ResultOf } from '../../operations/index.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { newCommandId } from '../reach/call.ts';
import { openClient } from '../reach/connect.ts';
import { show } from '../show/result.ts';
import { warn } from '../show/write.ts';

/** One call waits this long; then the next one waits for the same answer. Milliseconds. */
const WAIT_MS = 60_000;

/** The exit code of a question that nobody answered. */
const UNANSWERED = 1;

interface AskInput {
  readonly teamId: string;
  readonly content: string;
  readonly choices?: string[];
  readonly freeText?: boolean;
  readonly otherwise?: 'go-on' | 'fail';
  readonly fallback?: string;
  readonly within?: number;
  readonly taskId?: string;
  readonly wait?: boolean;
}

/** Asks the user in the name of a member, and prints the answer when it comes. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { wait = true, ...asked } = given.input as unknown as AskInput;
  const { teamId } = asked;
  const as = given.as === undefined ? {} : { as: given.as };
  const client = openClient(environment);
  try {
    const options = { signal, commandId: newCommandId(), ...as };
    let request: ResultOf<'question.ask'> = await client.call('question.ask', asked, options);
    if (wait && request.status === 'pending') warn(`Waiting for an answer: troupe answer ${request.id} "…"\n`);
    while (wait && request.status === 'pending') {
      request = await client.call('question.ask', { teamId, requestId: request.id, wait: WAIT_MS }, { signal, ...as });
    }
    await takeMessage(client, request, as);
    await show('question.ask', request, { json: given.json, screen });
    return request.status === 'approved' || request.status === 'pending' || request.choice !== undefined
      ? 0
      : UNANSWERED;
  } finally {
    client.close();
  }
}

/** The answer also came as a message. Whoever asked has it now, so it is not shown once more. */
async function takeMessage(
  client: Client,
  { id, teamId, memberId, status }: ResultOf<'question.ask'>,
  as: { readonly as?: string },
): Promise<void> {
  if (status === 'pending') return;
  const read = { teamId, memberId, messageIds: [answerMessageId(id)], read: true };
  await client.call('message.acknowledge', read, as).catch((error: unknown) => {
    // Without an answer the task failed, and there is no message.
    if (!(error instanceof TeamError) || error.code !== 'not_found') throw error;
  });
}
