import { SYSTEM, USER } from '../core/actor.ts';
import type { TeamRequest } from '../core/request.ts';
import type { TeamState } from '../core/state.ts';
import type { Ledger } from '../ledger/ledger.ts';

/**
 * Carries out a person's answer about work that a gate kept rejecting. Yes completes the task as it is. No releases it
 * to be done again, with the person's feedback. If nobody answers in time, the task fails.
 */
export function keepGates(ledger: Ledger, onError: (error: unknown, teamId: string) => void): () => void {
  return ledger.subscribe((teamId, { events }, state) => {
    for (const event of events) {
      if (event.type !== 'request:answered') continue;
      const request = state.requests.get(event.requestId);
      if (request?.kind === 'gate') {
        carryOut(ledger, teamId, request, state).catch((error: unknown) => onError(error, teamId));
      }
    }
  });
}

async function carryOut(ledger: Ledger, teamId: string, request: TeamRequest, state: TeamState): Promise<void> {
  const { taskId, memberId, feedback } = request;
  const task = taskId === undefined ? undefined : state.tasks.get(taskId);
  if (!task || task.status !== 'in_progress' || task.assigneeId !== memberId) return;
  // A new attempt has begun since; the answer was about the earlier one.
  const epoch = request.detail?.['epoch'];
  if (typeof epoch === 'number' && epoch !== task.epoch) return;
  if (request.status === 'approved') {
    const result = request.detail?.['result'];
    const said = typeof result === 'string' ? { result } : {};
    await ledger.execute(
      teamId,
      { type: 'task.complete', by: USER, taskId: task.id, epoch: task.epoch, ...said },
      () => undefined,
    );
    return;
  }
  if (request.answeredBy === SYSTEM) {
    const unanswered = `${request.content}\nNobody looked at it in time.`;
    await ledger.execute(
      teamId,
      { type: 'task.fail', by: SYSTEM, taskId: task.id, epoch: task.epoch, reason: unanswered },
      () => undefined,
    );
    return;
  }
  const reason = feedback ? `sent back: ${feedback.split('\n', 1)[0]}`.slice(0, 900) : 'sent back by a person';
  // The full text is the task's feedback, like a gate's, and goes into the next attempt.
  await ledger.execute(
    teamId,
    { type: 'task.release', by: USER, taskId: task.id, epoch: task.epoch, reason },
    () => undefined,
  );
}
