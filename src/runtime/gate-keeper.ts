import { SYSTEM, USER } from '../core/actor.ts';
import type { TeamRequest } from '../core/request.ts';
import type { TeamState } from '../core/state.ts';
import type { Ledger } from '../ledger/ledger.ts';

/**
 * Carries out what a person answered about work that a gate kept sending back: yes completes it as it is, no gives it
 * back to be done anew, with what the person said. When nobody answered in time the task has failed.
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
  // Another try has begun since; the answer was about the one before.
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
  // The words themselves are on the task as its feedback, as a gate's are, and come with the next try.
  await ledger.execute(
    teamId,
    { type: 'task.release', by: USER, taskId: task.id, epoch: task.epoch, reason },
    () => undefined,
  );
}
