import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { Refusal } from '../show/errors.ts';
import { fold } from '../show/text.ts';
import { describeAnswer } from '../show/views/waiting.ts';
import { print, toJson } from '../show/write.ts';
import { answer, findRequest, findWaiting } from './approve.ts';
import { chosenBy } from './up/question.ts';

interface AnswerInput {
  readonly requestId: string;
  readonly text: string;
  readonly teamId?: string;
  readonly revision?: string;
  readonly asText?: boolean;
}

/** Answers a question of a member: with the number or the text of a choice, or in other words. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { requestId, text, teamId, revision, asText = false } = given.input as unknown as AnswerInput;
  const client = openClient(environment);
  try {
    const questions = (await findWaiting(client, teamId, signal)).filter(({ question }) => question !== undefined);
    const request = findRequest(questions, requestId);
    if (text.trim() === '') throw new Refusal('invalid', 'The answer is empty: troupe approve shows the question');
    const chosen = asText ? { choice: undefined, feedback: text } : chosenBy(text, request);
    const said = { approve: true, ...chosen, comments: [], revision, signal };
    const answered = await answer(client, request, said);
    if (given.json) print(toJson(answered, screen.isTerminal ? 2 : undefined));
    else {
      const about = { teamId: answered.teamId, memberId: answered.memberId };
      const { status } = await client.call('member.show', about, { signal });
      print(fold(`${describeAnswer(answered, { isStopped: status === 'stopped' })}\n`, screen));
    }
    return 0;
  } finally {
    client.close();
  }
}
