import type { CommandOf } from '../../../src/core/command.ts';
import { ask, needLive, needOpenTeam, refused, unusedId } from './guard.ts';
import type { Attempt } from './guard.ts';
import { fail, needTask } from './task.ts';
import type { Request, World } from './world.ts';

// What a member asks its user, and what follows from the answer.

export function askPerson(world: World, command: CommandOf<'request.raise'>, attempt: Attempt): void {
  needOpenTeam(world, attempt);
  const { memberId, content, at, by } = command;
  const form = command.question ?? { choices: [], freeText: true, otherwise: 'go-on' };
  if (by !== memberId && by !== '@system') attempt.codes.push('not_allowed');
  needLive(world, memberId, attempt);
  if (command.taskId !== undefined) needTask(world, command.taskId, attempt);
  if (form.choices.length === 0 && !form.freeText) attempt.codes.push('invalid');
  const open = world.requests.filter(
    (one) => one.kind === 'question' && one.status === 'pending' && one.memberId === memberId,
  );
  const isKnown = open.some(
    (one) => one.content === content && one.question?.choices.join('|') === form.choices.join('|'),
  );
  const held = world.tasks.filter((task) => task.status === 'in_progress' && task.assigneeId === memberId);
  const taskId = command.taskId ?? (held.length === 1 ? held[0]?.id : undefined);
  const epoch = held.find(({ id }) => id === taskId)?.epoch;
  if (!isKnown && open.length >= 3) attempt.codes.push('limit');
  if (!isKnown && form.otherwise === 'fail' && epoch === undefined) attempt.codes.push('invalid');
  if (refused(attempt) || isKnown) return;
  const id = unusedId(world, at, (tick) => `question-${tick}@${memberId}`);
  const detail = epoch === undefined ? command.detail : { ...command.detail, epoch };
  const deadline = at + (command.within ?? 24 * 3_600_000);
  ask(world, { id, kind: 'question', memberId, content, taskId, deadline, detail, question: form }, command);
  attempt.facts.push(`request:raised ${id}`);
}

/** Whether the answer fits what was asked. */
export function isAnswer({ kind, question }: Request, answer: CommandOf<'request.answer'>): boolean {
  // The budgets of the model's requests have no unit.
  if (answer.grants !== undefined) return false;
  if (kind !== 'question' && !question) return answer.choice === undefined;
  if (!answer.approve) return true;
  if (answer.choice !== undefined) return question?.choices.includes(answer.choice) ?? false;
  return (question?.freeText ?? true) && (answer.feedback ?? '') !== '';
}

/** Sends the answer to the member that asked, or fails its task. */
export function passOn(world: World, command: CommandOf<'request.answer'>, request: Request, attempt: Attempt): void {
  const { id, memberId, content, question, detail, choice, taskId } = request;
  const { at, by, approve, feedback } = command;
  const task = world.tasks.find((one) => one.id === taskId);
  const isHeld = task?.status === 'in_progress' && task.assigneeId === memberId && task.epoch === detail?.['epoch'];
  if (!approve && question?.otherwise === 'fail' && isHeld) {
    const reason = `It needed an answer and got none.${feedback ? ` ${feedback}` : ''} It asked: ${content}`;
    fail(world, task, { at, reason }, attempt);
    return;
  }
  const left = by === '@user' ? 'Your user leaves it to you' : 'Nobody answered in time';
  const how = choice === undefined ? 'go on as you think best. ' : 'the default counts. The answer: ';
  const said = [choice, feedback].filter(Boolean).join('\n');
  world.messages.push({
    id: `answer/${id}`,
    fromId: by,
    toId: memberId,
    type: by === '@system' ? 'system' : 'direct',
    content: `You asked: ${content}\n${approve ? 'The answer: ' : `${left}: ${how}`}${said}`,
    summary: `answer to ${id}`,
    priority: 'normal',
    metadata: { requestId: id },
    sentAt: at,
    redeliveries: 0,
  });
  attempt.facts.push(`message:sent answer/${id}`);
}
