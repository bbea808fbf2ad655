import { z } from 'zod';
import { wrapText } from '../../core/envelope.ts';
import { TeamError } from '../../core/errors.ts';
import { answerMessageId } from '../../core/question.ts';
import type { TeamRequest } from '../../core/request.ts';
import { tool } from '../tool.ts';
import type { Answer, Visit } from '../tool.ts';
import { LANDING_MS } from './about-task.ts';
import { LONGEST_WAIT } from './inputs.ts';
import { runningSession } from './news.ts';

const AskUserInput = z.strictObject({
  question: z.string().optional(),
  choices: z.array(z.string()).optional(),
  free_text: z.boolean().optional(),
  deadline_minutes: z.number().min(0.001).max(1_440).optional(),
  if_unanswered: z.string().optional().describe('"go on", "fail" or a choice'),
  request_id: z.string().optional().describe('waits for an open question'),
  wait_seconds: z
    .number()
    .min(0)
    .max(LONGEST_WAIT)
    .default(LANDING_MS / 1000),
});
type AskUserInput = z.output<typeof AskUserInput>;

export const questionTools = [
  tool({
    name: 'AskUser',
    description:
      'Ask your user, a person, what only they can decide. Without an answer in wait_seconds, end your turn: the answer wakes you.',
    for: 'member',
    input: AskUserInput,
    run: askUser,
  }),
];

async function askUser(visit: Visit, input: AskUserInput): Promise<Answer> {
  const { call, teamId, progress } = visit;
  const wait = Math.round(input.wait_seconds * 1000);
  if (wait > 0) progress?.('waiting for an answer');
  const asked = input.request_id === undefined ? questionIn(input) : { requestId: input.request_id };
  const request = await call<TeamRequest>('question.ask', { teamId, ...asked, wait }, { once: true });
  if (request.status === 'pending') return stillOpen(request);
  await takeMessage(visit, request);
  return answered(request);
}

/** What the agent asks, in the words of the operation. */
function questionIn(input: AskUserInput): object {
  const { question = '', choices = [], free_text, deadline_minutes, if_unanswered } = input;
  if (question.trim() === '') throw new TeamError('invalid', 'question: say what you ask');
  return {
    content: question,
    choices,
    ...(free_text !== undefined && { freeText: free_text }),
    ...(deadline_minutes !== undefined && { within: Math.ceil(deadline_minutes * 60_000) }),
    ...otherwise(if_unanswered, choices),
  };
}

function otherwise(text: string | undefined, choices: readonly string[]): object {
  if (text === undefined) return {};
  if (choices.includes(text)) return { fallback: text };
  const named = text
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, '-');
  if (named === 'go-on' || named === 'fail') return { otherwise: named };
  throw new TeamError('invalid', 'if_unanswered: must be "go on", "fail" or one of the choices');
}

function stillOpen({ id, deadline }: TeamRequest): Answer {
  const until = deadline === undefined ? '' : ` until ${deadline.toISOString()}`;
  return {
    text:
      `Your question is still open${until} (request_id ${id}). If you cannot go on without the answer, end your turn now: ` +
      'the answer comes as a message and wakes you. AskUser with this request_id waits again.',
    data: { request_id: id, status: 'open' },
  };
}

function answered({ id, status, answeredBy, choice, feedback, question }: TeamRequest): Answer {
  const data = {
    request_id: id,
    status: status === 'approved' ? 'answered' : status === 'rejected' ? 'unanswered' : status,
    ...(choice !== undefined && { choice }),
    ...(feedback !== undefined && { answer: feedback }),
  };
  if (status === 'withdrawn') return { text: 'Your question is withdrawn: its task is over.', data };
  const said = [choice, feedback].filter((text) => text !== undefined && text.trim() !== '').join('\n');
  const attributes = { teammate_id: answeredBy, type: 'question_response', request_id: id };
  const words = said === '' ? '' : `\n${wrapText(said, crypto.randomUUID().slice(0, 8), attributes)}`;
  if (status === 'approved') return { text: `Your user answered:${words}`, data };
  const next =
    choice === undefined
      ? question?.otherwise === 'fail'
        ? 'Your task failed, as you asked for.'
        : 'Go on as you think best.'
      : `The default counts: ${JSON.stringify(choice)}.`;
  return { text: `Nobody answered. ${next}${words}`, data };
}

/** The answer also came as a message. The agent has it now, so it is not shown once more. */
async function takeMessage({ call, teamId, memberId, session, request, signal }: Visit, asked: TeamRequest) {
  if (memberId === undefined || signal.aborted) return;
  const id = answerMessageId(asked.id);
  const waiting = await call<{ id: string }[]>('message.inbox', { teamId, unread: true });
  if (!waiting.some((message) => message.id === id) || session.handed.has(id)) return;
  const running = await runningSession(call, { teamId, memberId });
  const sessionId = running ?? session.id;
  await call('message.deliver', { teamId, memberId, messageIds: [id], sessionId });
  session.handed.set(id, { teamId, memberId, request, isAnswered: true });
}
