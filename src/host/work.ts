import type { TaskJson } from '../agents/agent.ts';
import { RESULT_BYTES } from '../core/limits.ts';
import { cutToBytes } from '../core/text.ts';
import { codeOf } from './door.ts';
import type { Door } from './door.ts';
import type { Mail } from './mail.ts';
import { makeTurn } from './prompt.ts';
import type { Seat, TurnEnd } from './seat.ts';

/** A member at work: who it is, where it sits, what comes in for it. */
export interface Bench {
  readonly door: Door;
  readonly who: { readonly teamId: string; readonly memberId: string };
  readonly seat: Seat;
  readonly mail: Mail;
  /** Resolves when a turn may begin: at once, or when the budget was raised. False when it must stop first. */
  readonly mayTurn: () => Promise<boolean>;
  readonly onError: (error: unknown) => void;
}

/** Does a task to its end, whatever that is. Returns what the last turn produced. */
export async function workOn(bench: Bench, task: TaskJson): Promise<string> {
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
  }
}

async function isBeforePerson({ door, who: { teamId } }: Bench, task: TaskJson): Promise<boolean> {
  const questions = await door.call('request.list', { teamId, kind: 'gate', status: 'pending' });
  return questions.some(({ taskId }) => taskId === task.id);
}

/** Runs a turn as soon as the budget allows it; urgent mail joins it where the agent can take it, losing the task ends it. */
export async function turnWithMail(bench: Bench, turn: ReturnType<typeof makeTurn>, task?: TaskJson): Promise<TurnEnd> {
  if (!(await bench.mayTurn())) return { type: 'turnEnd', reason: 'cancelled', text: '' };
  return bench.seat.turn(turn, { task, onUrgent: () => void steer(bench) });
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
    if (code === 'gate_rejected') return (error as Error).message;
    if (code === 'stale_revision') return finish(bench, task, end);
    if (code === 'stale_epoch' || code === 'conflict' || code === 'not_allowed') return undefined;
    throw error;
  }
}
