import { durationOf } from '../core/duration.ts';
import { TeamError } from '../core/errors.ts';
import { textOf } from '../core/fields.ts';
import { QUESTION_BYTES } from '../core/limits.ts';
import { QuestionInput } from '../core/question.ts';
import { AnswerRequestInput, RaiseRequestInput, TeamRequest } from '../core/request.ts';
import { sameQuestion } from '../core/rules/question.ts';
import type { TeamState } from '../core/state.ts';
import { quote } from '../core/text.ts';
import { until } from '../ledger/until.ts';
import { InTeam, Wait } from './inputs.ts';
import { operation } from './operation.ts';
import type { Context } from './operation.ts';

const AskInput = InTeam.extend({
  content: textOf(QUESTION_BYTES).optional().describe('the question'),
  ...QuestionInput.shape,
  within: durationOf(1, 86_400_000).optional().describe('how long an answer is waited for (default: a day)'),
  taskId: RaiseRequestInput.shape.taskId.describe('the task it is about (default: the one that the member holds)'),
  requestId: AnswerRequestInput.shape.requestId
    .optional()
    .describe('an open question, to wait for its answer instead of asking a new one'),
  wait: Wait.wait.describe('wait up to so many milliseconds for the answer'),
});

export const questionOperations = [
  operation({
    name: 'question.ask',
    summary: 'Ask your user a question, as a member; the answer comes with the result or as a message',
    scope: 'member',
    input: AskInput,
    result: TeamRequest,
    route: 'POST /api/teams/:teamId/questions',
    cli: {
      args: ['content'],
      examples: [
        'troupe question ask "Which database?" --choices SQLite,PostgreSQL --team demo --as worker-1 --wait 5m',
        'troupe question ask --request-id REQUEST --team demo --as worker-1 --wait 5m',
      ],
    },
    run: async (context, { requestId, wait, ...asked }) => {
      const { ledger, actor, signal } = context;
      const { teamId } = asked;
      const id = requestId ?? (await raise(context, asked)).id;
      const own = (state: TeamState): TeamRequest => {
        const request = state.requests.get(id);
        if (request?.kind === 'question' && request.memberId === actor) return request;
        throw new TeamError('not_found', `${actor} has asked no question ${quote(id)}`, { facts: { list: 'request' } });
      };
      const now = await ledger.view(teamId, own);
      if (!wait || now.status !== 'pending') return now;
      const ended = (state: TeamState): TeamRequest | undefined =>
        own(state).status === 'pending' ? undefined : own(state);
      return (await until(ledger, teamId, ended, { wait, signal })) ?? now;
    },
  }),
] as const;

type Asked = Omit<(typeof AskInput)['_output'], 'requestId' | 'wait'>;

/** Asks, or finds the same question: an open one with the same text, or that of the same call. */
function raise(
  { ledger, actor, once }: Context,
  { teamId, content = '', within, taskId, ...question }: Asked,
): Promise<TeamRequest> {
  const asked = { kind: 'question', memberId: actor, content, within, taskId, question } as const;
  return ledger.execute(teamId, { type: 'request.raise', by: actor, ...once, ...asked }, (state, events) => {
    const [raised] = events;
    const id =
      raised?.type === 'request:raised' ? raised.requestId : state.receipts.get(once.commandId ?? '')?.requestId;
    const found = state.requests.get(id ?? '') ?? sameQuestion(state, asked);
    if (found) return found;
    throw new TeamError('internal', 'The question that was just recorded is not there');
  });
}
