import type { TaskJson } from '../agents/agent.ts';
import { taskLetGo } from '../core/events/table.ts';
import { answerMessageId } from '../core/question.ts';
import { shorten } from '../core/text.ts';
import type { Bench } from './bench.ts';
import type { Watch } from './watch.ts';

/** How much of a question others read while it is open, in characters. */
const SHOWN = 200;

/**
 * Whether the member waits for an answer about this task: a question is open, or its answer came just before the turn
 * ended and was not read. Such a task is not finished, whatever its turn said.
 */
export async function lacksAnswer({ door, who }: Pick<Bench, 'door' | 'who'>, task: TaskJson): Promise<boolean> {
  const questions = (await door.call('request.list', { teamId: who.teamId, kind: 'question' })).filter(
    ({ memberId, taskId }) => memberId === who.memberId && taskId === task.id,
  );
  if (questions.length === 0) return false;
  if (questions.some(({ status }) => status === 'pending')) return true;
  const answers = new Set(questions.map(({ id }) => answerMessageId(id)));
  const waiting = await door.call('message.inbox', { ...who, waiting: true });
  return waiting.some(({ id, deliveredAt }) => answers.has(id) && deliveredAt === undefined);
}

/**
 * Resolves with true when no question of the member about this task is open, with false when interrupted. So a member
 * that was restarted waits for the answer, too, instead of asking again.
 */
export async function waitForAnswers(
  bench: Pick<Bench, 'door' | 'who' | 'tellWaiting'>,
  task: TaskJson,
  { watch, isInterrupted }: { watch: Watch; isInterrupted: () => Promise<boolean> },
): Promise<boolean> {
  let told = false;
  const gone = Promise.withResolvers<void>();
  const stopListening = watch.onEvent((event) => {
    if (taskLetGo(event) === task.id) gone.resolve();
  });
  try {
    for (;;) {
      const question = await openQuestion(bench, task);
      if (!question) return true;
      if (!told) {
        told = true;
        const until = question.deadline === undefined ? undefined : Date.parse(question.deadline);
        await bench.tellWaiting({ reason: `an answer to its question: ${shorten(question.content, SHOWN)}`, until });
      }
      if (await isInterrupted()) return false;
      await Promise.race([watch.next(), gone.promise]);
    }
  } finally {
    stopListening();
    if (told) await bench.tellWaiting(undefined);
  }
}

async function openQuestion({ door, who: { teamId, memberId } }: Pick<Bench, 'door' | 'who'>, task: TaskJson) {
  const questions = await door.call('request.list', { teamId, kind: 'question', status: 'pending' });
  return questions.find((question) => question.memberId === memberId && question.taskId === task.id);
}
