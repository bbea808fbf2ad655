import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskJson, Turn, TurnEnd } from '../agents/agent.ts';
import { RESULT_BYTES } from '../core/limits.ts';
import { waitsToLand } from '../core/queue-view.ts';
import { cutToBytes, shorten } from '../core/text.ts';
import type { Bench } from './bench.ts';
import { CANCELLED } from './conversation.ts';
import { codeOf } from './door.ts';
import type { Door } from './door.ts';
import { interruptible } from './interruptions.ts';
import { mayWorkHere, saveWork } from './open-work.ts';
import { makeTurn } from './prompt.ts';
import { lacksAnswer } from './questions.ts';

/** Does a task to its end, whatever that is. Returns the text of the last turn. */
export async function workOn(bench: Bench, claimed: TaskJson): Promise<string> {
  let task = claimed;
  let feedback: string | undefined;
  for (;;) {
    if (!(await bench.answered(task))) {
      await finish(bench, task, CANCELLED, 'stopped while it waited for an answer');
      return '';
    }
    const messages = await bench.mail.take(bench.conversation.sessionId);
    const end = await turnWithMail(bench, makeTurn({ task, messages, feedback }), task);
    const produced = end.text || (end.error ?? '');
    // It ended its turn to wait for its user. The answer comes with the next turn.
    if (end.reason === 'done' && (await lacksAnswer(bench, task))) continue;
    const verdict = await finish(bench, task, end);
    if (verdict === undefined) return produced;
    // After too many rejections a person is asked, and the task stays ours until the answer.
    if (await isBeforePerson(bench, task)) return produced;
    feedback = verdict;
    task = await asItIsNow(bench, task);
  }
}

/** The task with its new rejections and other changes. If it is no longer held, the end of the turn shows that. */
async function asItIsNow({ door, who: { teamId } }: Bench, task: TaskJson): Promise<TaskJson> {
  const now = await door.call('task.show', { teamId, taskId: task.id });
  return now.epoch === task.epoch ? now : task;
}

async function isBeforePerson({ door, who: { teamId, memberId } }: Bench, task: TaskJson): Promise<boolean> {
  const questions = await door.call('request.list', { teamId, kind: 'gate', status: 'pending' });
  return questions.some(({ taskId, memberId: whose }) => taskId === task.id && whose === memberId);
}

/**
 * Runs a turn once the budget allows it. Urgent messages join it if the agent can take them; losing the task ends it.
 */
export async function turnWithMail(bench: Bench, turn: Turn, task?: TaskJson): Promise<TurnEnd> {
  const { conversation, mayTurn } = bench;
  const messageIds = turn.messages.map(({ id }) => id);
  const interruptions = interruptible(bench.guards, task);
  let isTooLong = false;
  for (;;) {
    const mayBegin = (await mayTurn(task)) && (await mayWorkHere(bench, task));
    const wasFull = conversation.isFull || isTooLong;
    const again = interruptions.again(turn);
    const next = mayBegin ? await prepared(bench, again, { isFresh: wasFull }) : again;
    // Waiting and fresh sessions take time, in which another member may have taken the task.
    if (!mayBegin || (task && !(await isHeld(bench, task)))) {
      bench.mail.doubt(messageIds);
      return CANCELLED;
    }
    if (!task) await saveWork(bench);
    const steering: Promise<string[]>[] = [];
    const run = (): Promise<TurnEnd> =>
      conversation.turn(next, { task, onUrgent: () => void steering.push(steer(bench)) });
    const { end, isInterrupted } = await interruptions.run(run);
    const joined = (await Promise.all(steering)).flat();
    await saveWork(bench);
    // The supervisor sees that the agent is gone and releases its tasks.
    if (end.lost) await conversation.lost;
    bench.mail.doubt([...messageIds, ...joined]);
    if (!end.lost) await bench.mail.endTurn(conversation.sessionId, { went: end.reason === 'done' ? 'well' : 'badly' });
    if (isInterrupted) continue;
    if (end.reason === 'done') await bench.account.answered();
    if (end.reason !== 'failed') return end;
    // The conversation filled up during the turn: the rest fits into a fresh one.
    isTooLong = end.trouble === 'context' || conversation.isFull;
    if (isTooLong && !wasFull) continue;
    // The same turn is done again when its account can be used.
    if (!(await bench.account.failed(end))) return end;
    conversation.note({ at: Date.now(), type: 'waiting', reason: end.error ?? '' });
    isTooLong = false;
  }
}

/** Whether the task is still ours, under the same epoch. */
export async function isHeld({ door, who: { teamId } }: Pick<Bench, 'door' | 'who'>, task: TaskJson): Promise<boolean> {
  try {
    const { status, epoch } = await door.call('task.show', { teamId, taskId: task.id });
    return status === 'in_progress' && epoch === task.epoch;
  } catch (error) {
    // It was deleted.
    if (codeOf(error) === 'not_found') return false;
    throw error;
  }
}

/** The turn, with a handover if its agent does not know what was done before. */
async function prepared(bench: Bench, turn: Turn, { isFresh }: { isFresh: boolean }): Promise<Turn> {
  const { conversation, door, who, handover } = bench;
  const why = isFresh ? TOO_LONG : handover.why;
  if (why === undefined) return turn;
  const text = await makeHandover(door, who, why);
  if (isFresh) await conversation.renew();
  handover.why = undefined;
  return { ...turn, text: `${text}\n\n${turn.text}` };
}

const TOO_LONG = 'Your conversation became too long; this is a new one. None of your work is lost.';

/** How many of its own results and notes a member gets, and how many characters of each. */
const KEPT = 10;
const KEPT_LENGTH = 400;

/**
 * What a member needs to continue in a fresh session: the state of its team, its own results, and its notes. It can
 * look up the rest.
 */
async function makeHandover(door: Door, { teamId, memberId }: Bench['who'], why: string): Promise<string> {
  const [digest, tasks, notes] = await Promise.all([
    door.call('team.digest', { teamId }),
    door.call('task.list', { teamId, assigneeId: memberId, status: 'completed' }),
    door.call('note.list', { teamId }),
  ]);
  const results = tasks.slice(-KEPT).map(({ id, title, result }) => `#${id} ${title}: ${inShort(result ?? '')}`);
  const written = notes.filter(({ authorId }) => authorId === memberId).slice(-KEPT);
  return [
    why,
    digest.text,
    ...(results.length > 0 ? ['What you did so far:', ...results] : []),
    ...(written.length > 0 ? ['What you wrote down:', ...written.map(({ text }) => `- ${inShort(text)}`)] : []),
  ].join('\n');
}

function inShort(text: string): string {
  return shorten(text, KEPT_LENGTH).replaceAll(/\s*\n\s*/g, ' ');
}

/** Adds urgent messages to the running turn, or runs a turn with them after it. Returns their ids. */
async function steer({ conversation, mail, onError }: Bench): Promise<string[]> {
  const messageIds: string[] = [];
  try {
    const messages = await mail.take(conversation.sessionId, { urgentOnly: !conversation.takesAllMail });
    messageIds.push(...messages.map(({ id }) => id));
    if (messages.length > 0) await conversation.steer(makeTurn({ messages }));
  } catch (error) {
    onError(error);
  }
  return messageIds;
}

/** Records how a turn on a task ended; returns the feedback if a gate rejected the work. */
export async function finish(
  bench: Bench,
  task: TaskJson,
  end: TurnEnd,
  reason = 'the turn was cancelled',
): Promise<string | undefined> {
  const { door, who } = bench;
  const held = { teamId: who.teamId, taskId: task.id, epoch: task.epoch };
  if (end.lost) return undefined;
  try {
    // The agent ended it with its tools, or it was taken away.
    if (!(await isHeld(bench, task))) return undefined;
    const said = cutToBytes(end.reason === 'failed' ? (end.error ?? 'the agent failed') : end.text, RESULT_BYTES);
    // A gate or a person decides what a refusal is worth.
    if (end.trouble === 'refused') await completeTask(bench, { ...held, result: said, refused: true });
    else if (end.reason === 'done') await completeTask(bench, { ...held, result: said });
    else if (end.reason === 'failed') await door.call('task.fail', { ...held, reason: said });
    else await door.call('task.release', { ...held, reason });
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'gate_rejected') {
      const feedback = (error as Error).message;
      bench.conversation.note({ at: Date.now(), type: 'rejected', taskId: task.id, feedback });
      return feedback;
    }
    if (code === 'stale_revision') return finish(bench, task, end, reason);
    if (code !== undefined && LOST_MEANWHILE.has(code)) return undefined;
    throw error;
  }
}

/**
 * Completes a task, and waits for the verdict. A member that must stop leaves what it has handed in to the merge queue:
 * the verdict may take hours, and needs no process of the member.
 */
async function completeTask(
  { door, signal, worksApart }: Bench,
  { teamId, taskId, ...more }: { teamId: string; taskId: string; epoch: number; result: string; refused?: true },
): Promise<void> {
  const done = door.call('task.complete', { teamId, taskId, ...more });
  if (!worksApart) return void (await done);
  const isOver = new AbortController();
  try {
    await Promise.race([done, left(isOver.signal)]);
  } finally {
    isOver.abort();
  }

  /** Resolves when it must stop and its work is handed in. */
  async function left(over: AbortSignal): Promise<void> {
    await aborted(AbortSignal.any([signal, over]));
    while (!over.aborted) {
      // A daemon that ends answers nothing more; then the call itself ends.
      const task = await door.call('task.show', { teamId, taskId }).catch(() => undefined);
      if (task && waitsToLand(task)) return;
      await sleep(LOOK_AGAIN_MS, undefined, { signal: over }).catch(() => {});
    }
  }
}

/** The save of a large folder takes a while. */
const LOOK_AGAIN_MS = 100;

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** The task changed hands, ended or was deleted at the same moment. */
const LOST_MEANWHILE: ReadonlySet<string> = new Set(['stale_epoch', 'conflict', 'not_allowed', 'not_found']);
