import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { ANSWER_WITHIN, QUESTION_BYTES, QUESTIONS_PER_MEMBER } from '../limits.ts';
import { answerMessageId } from '../question.ts';
import type { Question } from '../question.ts';
import type { TeamRequest } from '../request.ts';
import type { TeamState } from '../state.ts';
import { pendingRequests } from '../tables.ts';
import { byteLength, quote } from '../text.ts';
import { requireTask } from '../view.ts';
import { requireLive, requireSelf } from './guard.ts';
import { freeId } from './request-id.ts';

/** A member asks its user. While the same question is open, or its answer is unread, asking again has no effect. */
export function askPerson(state: TeamState, command: CommandOf<'request.raise'>): TeamEvent[] {
  const { kind, memberId, content, within, detail } = command;
  requireSelf(command.by, memberId, 'ask in the name of');
  requireLive(state, memberId);
  if (command.taskId !== undefined) requireTask(state, command.taskId);
  const question = requireForm(content, command.question);
  if (sameQuestion(state, command)) return [];
  const open = openQuestions(state, memberId);
  if (open.length >= QUESTIONS_PER_MEMBER) {
    throw new TeamError(
      'limit',
      `${memberId} has ${open.length} open questions, the limit: wait for an answer to one of them`,
    );
  }
  const taskId = command.taskId ?? heldTask(state, memberId);
  const epoch = taskId === undefined ? undefined : holdsSince(state, taskId, memberId);
  if (question.otherwise === 'fail' && epoch === undefined) {
    throw wrong('otherwise', `only a task can fail, and ${memberId} holds none: choose "go-on"`);
  }
  return [
    event(command, 'request:raised', {
      requestId: freeId(state, command.at, (at) => `${kind}-${at}@${memberId}`),
      kind,
      memberId,
      taskId,
      content,
      deadline: command.at + (within ?? ANSWER_WITHIN.question),
      detail: epoch === undefined ? detail : { ...detail, epoch },
      question,
    }),
  ];
}

/**
 * The same question of the same member that still waits for an answer, or whose answer the member has not read: a member
 * that was stopped while it waited asks again when it starts its task over.
 */
export function sameQuestion(
  state: TeamState,
  { memberId, content, question }: Pick<CommandOf<'request.raise'>, 'memberId' | 'content' | 'question'>,
): TeamRequest | undefined {
  const choices = question?.choices ?? [];
  return [...openQuestions(state, memberId), ...unreadAnswers(state, memberId)].find(
    (asked) =>
      asked.content === content &&
      asked.question?.choices.length === choices.length &&
      choices.every((choice, i) => asked.question?.choices[i] === choice),
  );
}

function openQuestions(state: TeamState, memberId: string): TeamRequest[] {
  return pendingRequests(state).filter((request) => request.kind === 'question' && request.memberId === memberId);
}

/** The questions whose answers wait in the member's inbox. */
function unreadAnswers(state: TeamState, memberId: string): TeamRequest[] {
  return [...(state.index.inboxes.get(memberId)?.waiting ?? [])].flatMap((messageId) => {
    const request = state.requests.get(String(state.messages.get(messageId)?.metadata?.['requestId']));
    return request?.kind === 'question' && messageId === answerMessageId(request.id) ? [request] : [];
  });
}

const DEFAULTS: Question = { choices: [], freeText: true, otherwise: 'go-on' };

/** A question that can be answered. */
function requireForm(content: string, question: Question = DEFAULTS): Question {
  const { choices, freeText, otherwise, fallback } = question;
  if (content.trim() === '') throw wrong('content', 'the question is empty');
  if (byteLength(content) > QUESTION_BYTES) {
    throw wrong('content', `a question has at most ${QUESTION_BYTES} bytes: put the rest in a file and name the file`);
  }
  if (new Set(choices).size < choices.length) throw wrong('choices', 'two are equal');
  if (choices.length === 0 && !freeText) throw wrong('choices', 'name some, or allow free text');
  if (fallback !== undefined && !choices.includes(fallback)) throw wrong('fallback', 'must be one of the choices');
  if (fallback !== undefined && otherwise === 'fail') {
    throw wrong('fallback', 'cannot go together with otherwise "fail"');
  }
  return question;
}

function wrong(field: string, problem: string): TeamError {
  return new TeamError('invalid', `${field}: ${problem}`, { facts: { problems: [{ field, problem }] } });
}

/** The task that the question is about if the member does not say: the only one that it holds. */
function heldTask(state: TeamState, memberId: string): string | undefined {
  const held = [...(state.index.assigned.get(memberId) ?? [])].filter(
    (id) => state.tasks.get(id)?.status === 'in_progress',
  );
  return held.length === 1 ? held[0] : undefined;
}

/** The epoch under which the member holds the task; undefined if it does not hold it. */
export function holdsSince(state: TeamState, taskId: string, memberId: string): number | undefined {
  const task = state.tasks.get(taskId);
  return task?.status === 'in_progress' && task.assigneeId === memberId ? task.epoch : undefined;
}

/** A yes to a question is one of its choices, or a text if it allows one. A no leaves it to the member. */
export function requireAnswer(
  { id, kind, question: asked }: TeamRequest,
  { approve, choice, feedback = '' }: CommandOf<'request.answer'>,
): void {
  const question = asked ?? DEFAULTS;
  if (kind !== 'question' && !asked) {
    if (choice === undefined) return;
    throw new TeamError('invalid', `choice: request ${id} has no choices: answer yes or no`);
  }
  if (!approve) return;
  if (choice !== undefined) {
    if (question.choices.includes(choice)) return;
    throw new TeamError('invalid', `choice: ${quote(choice)} is none of ${question.choices.map(quote).join(', ')}`);
  }
  if (question.freeText && feedback.trim() !== '') return;
  throw new TeamError(
    'invalid',
    question.freeText
      ? `Question ${id} needs an answer in words: give feedback${question.choices.length > 0 ? ' or a choice' : ''}`
      : `Question ${id} takes one of its choices: ${question.choices.map(quote).join(', ')}`,
  );
}
