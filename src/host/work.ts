import type { TaskJson, Turn } from '../agents/agent.ts';
import { RESULT_BYTES } from '../core/limits.ts';
import { cutToBytes } from '../core/text.ts';
import type { Bench } from './bench.ts';
import { codeOf } from './door.ts';
import { makeHandover } from './handover.ts';
import { isOverload, retryAfter } from './overload.ts';
import { makeTurn } from './prompt.ts';
import type { TurnEnd } from './seat.ts';

/** Does a task to its end, whatever that is. Returns what the last turn produced. */
export async function workOn(bench: Bench, claimed: TaskJson): Promise<string> {
  let task = claimed;
  let feedback: string | undefined;
  for (;;) {
    const messages = await bench.mail.take(bench.seat.sessionId);
    const end = await turnWithMail(bench, makeTurn({ task, messages, feedback }), task);
    const produced = end.text || (end.error ?? '');
    const verdict = await finish(bench, task, end);
    if (verdict === undefined) return produced;
    // After so many times a person is asked, and the task stays ours until the answer.
    if (await isBeforePerson(bench, task)) return produced;
    feedback = verdict;
    task = await asItIsNow(bench, task);
  }
}

/** How often it was sent back, and what else others changed in it; what is no longer held is found out at the end of the turn. */
async function asItIsNow({ door, who: { teamId } }: Bench, task: TaskJson): Promise<TaskJson> {
  const now = await door.call('task.show', { teamId, taskId: task.id });
  return now.epoch === task.epoch ? now : task;
}

async function isBeforePerson({ door, who: { teamId } }: Bench, task: TaskJson): Promise<boolean> {
  const questions = await door.call('request.list', { teamId, kind: 'gate', status: 'pending' });
  return questions.some(({ taskId }) => taskId === task.id);
}

/** Runs a turn as soon as the budget allows it; urgent mail joins it where the agent can take it, losing the task ends it. */
export async function turnWithMail(bench: Bench, turn: Turn, task?: TaskJson): Promise<TurnEnd> {
  const { seat, mayTurn } = bench;
  for (let attempt = 1; ; attempt++) {
    if (!(await mayTurn())) return CANCELLED;
    const wasFull = seat.isFull;
    const end = await seat.turn(wasFull ? await inFreshSession(bench, turn) : turn, {
      task,
      onUrgent: () => void steer(bench),
    });
    // What it held is given back for it, by those who see that it is gone.
    if (end.lost) await seat.lost;
    if (end.reason !== 'done') bench.mail.doubt(turn.messages.map(({ id }) => id));
    if (!end.lost) await bench.mail.endTurn(seat.sessionId, { went: end.reason === 'done' ? 'well' : 'badly' });
    if (end.reason !== 'failed') return end;
    // It filled up in the middle of the turn: what is left of it fits into a fresh conversation.
    if (seat.isFull && !wasFull) continue;
    const wait = isOverload(end.error) ? retryAfter(attempt) : undefined;
    if (wait === undefined) return end;
    if (!(await waitFor(bench, wait, end.error ?? ''))) return CANCELLED;
  }
}

const CANCELLED: TurnEnd = { type: 'turnEnd', reason: 'cancelled', text: '' };

async function inFreshSession({ seat, door, who }: Bench, turn: Turn): Promise<Turn> {
  const handover = await makeHandover(door, who);
  await seat.renew();
  return { ...turn, text: `${handover}\n\n${turn.text}` };
}

async function waitFor({ seat, pause, tellWaiting }: Bench, ms: number, reason: string): Promise<boolean> {
  const until = Date.now() + ms;
  seat.note({ at: Date.now(), type: 'waiting', reason, until });
  await tellWaiting(reason, until);
  const goesOn = await pause(ms);
  await tellWaiting(undefined);
  return goesOn;
}

async function steer({ seat, mail, onError }: Bench): Promise<void> {
  try {
    const messages = await mail.take(seat.sessionId, { urgentOnly: true });
    if (messages.length > 0) await seat.steer(makeTurn({ messages }));
  } catch (error) {
    onError(error);
  }
}

/** Records how a turn on a task ended; returns what a gate said if it sent the work back. */
export async function finish(bench: Bench, task: TaskJson, end: TurnEnd): Promise<string | undefined> {
  const { door, who } = bench;
  const held = { teamId: who.teamId, taskId: task.id, epoch: task.epoch };
  if (end.lost) return undefined;
  try {
    const now = await door.call('task.show', { teamId: held.teamId, taskId: held.taskId });
    // The agent ended it itself through its tools, or it was taken away.
    if (now.status !== 'in_progress' || now.epoch !== task.epoch) return undefined;
    const said = cutToBytes(end.reason === 'failed' ? (end.error ?? 'the agent failed') : end.text, RESULT_BYTES);
    if (end.reason === 'done') await door.call('task.complete', { ...held, result: said });
    else if (end.reason === 'failed') await door.call('task.fail', { ...held, reason: said });
    else await door.call('task.release', { ...held, reason: 'the turn was cancelled' });
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'gate_rejected') {
      const feedback = (error as Error).message;
      bench.seat.note({ at: Date.now(), type: 'rejected', taskId: task.id, feedback });
      return feedback;
    }
    if (code === 'stale_revision') return finish(bench, task, end);
    if (code === 'stale_epoch' || code === 'conflict' || code === 'not_allowed') return undefined;
    throw error;
  }
}
