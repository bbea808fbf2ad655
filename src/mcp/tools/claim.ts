import { ClaimConflictError, TeamError } from '../../core/errors.ts';
import type { TeamEvent } from '../../core/event.ts';
import { explainNothing } from '../../core/obstacles.ts';
import type { SharedTask } from '../../core/task.ts';
import type { ResultOf } from '../../operations/index.ts';
import { requireWelcome } from '../../operations/wait.ts';
import type { Answer, Visit } from '../tool.ts';
import { showTask } from './about-task.ts';
import { beginWork } from './begin-work.ts';
import { heldSince, OTHER_SESSION, rememberEpoch } from './epoch.ts';
import { hasNews } from './news.ts';

/** The input of the tool. */
interface Claiming {
  readonly taskId?: string | undefined;
  readonly wait_seconds: number;
  readonly lease_minutes?: number | undefined;
}

/** Claims a task. New mail for the member ends the wait, so that it does not miss messages for minutes. */
export async function claimTask(visit: Visit, { taskId, wait_seconds, lease_minutes }: Claiming): Promise<Answer> {
  const { call, session, teamId, memberId, signal } = visit;
  if (memberId === undefined) {
    throw new TeamError('invalid', 'A person holds no tasks: connect as a member (troupe mcp --as NAME) to claim one');
  }
  const wanted = { taskId, ...(lease_minutes !== undefined && { lease: Math.round(lease_minutes * 60_000) }) };
  const claimed =
    wait_seconds > 0
      ? claimUnlessMail(visit, memberId, { ...wanted, wait: wait_seconds * 1000 })
      : claimOnce(visit, memberId, { ...wanted, signal });
  const task = await claimed.catch((error: unknown) => explainConflict(visit, taskId, error));
  if (!task) return nothingClaimed(visit, taskId);
  if (signal.aborted) {
    // The client cancelled the call, so the agent would not know that it holds the task.
    await call('task.release', { teamId, taskId: task.id, epoch: task.epoch, reason: 'the claim was cancelled' });
    requireWelcome(signal);
    return nothingClaimed(visit, taskId);
  }
  rememberEpoch(visit, task);
  await beginWork(visit, task);
  const epoch = session.shared && task.epoch > 1 ? `, epoch ${task.epoch}` : '';
  const next = `Work on it, then call TaskComplete with taskId "${task.id}"${epoch} and the result.`;
  return showTask('Claimed. ', task, next);
}

interface Wanted {
  readonly taskId: string | undefined;
  readonly lease?: number;
  readonly wait?: number;
  readonly signal?: AbortSignal;
}

async function claimUnlessMail(visit: Visit, memberId: string, wanted: Wanted): Promise<SharedTask | null> {
  const { services, teamId, signal } = visit;
  const mail = new AbortController();
  const stopListening = services.ledger.subscribe((changed, { events }) => {
    if (changed === teamId && events.some((event) => isFor(event, memberId))) mail.abort();
  });
  try {
    visit.progress?.('waiting for a task');
    // The member may still claim a task that is ready now; new mail only prevents waiting.
    if (await hasNews(visit)) return await claimOnce(visit, memberId, { ...wanted, wait: 0, signal });
    return await claimOnce(visit, memberId, { ...wanted, signal: AbortSignal.any([signal, mail.signal]) });
  } finally {
    stopListening();
  }
}

async function claimOnce(
  { call, teamId }: Visit,
  memberId: string,
  { taskId, lease, wait, signal }: Wanted,
): Promise<SharedTask | null> {
  const claim = (once: string): Promise<SharedTask | null> =>
    call<SharedTask | null>(
      'task.claim',
      {
        teamId,
        ...(taskId !== undefined && { taskId }),
        ...(lease !== undefined && { lease }),
        ...(wait !== undefined && { wait }),
      },
      { once, ...(signal && { signal }) },
    );
  const task = await claim('claim');
  // A retried claim returns the task it won, but the member may have lost that task since.
  const isHeld = task === null || (task.status === 'in_progress' && task.assigneeId === memberId);
  return isHeld ? task : claim('claim-again');
}

/**
 * Explains why the member cannot claim a task that it holds. A second claim would give it two holders, and one would
 * not know that the other finishes it. A session that lost its epoch, or restarted, may name the current one.
 */
async function explainConflict(
  { call, session, teamId, memberId }: Visit,
  taskId: string | undefined,
  error: unknown,
): Promise<never> {
  if (taskId === undefined || !(error instanceof ClaimConflictError)) throw error;
  const task = await call<SharedTask>('task.show', { teamId, taskId });
  if (task.status !== 'in_progress' || task.assigneeId !== memberId) throw error;
  const isOwn = session.epochs.get(`${teamId}/${taskId}`) === task.epoch;
  throw new ClaimConflictError(
    isOwn
      ? `You already hold task ${taskId}: work on it, then call TaskComplete`
      : `You already hold task ${taskId} (${heldSince(task)}), but this session did not claim it. ${OTHER_SESSION} If it is the work of this session, finish it with TaskComplete and epoch ${task.epoch}; else take another task`,
  );
}

async function nothingClaimed(visit: Visit, taskId: string | undefined): Promise<Answer> {
  const { call, teamId } = visit;
  if (await hasNews(visit)) {
    return { text: 'No task yet, but there is mail for you: call Inbox.', data: { task: null, mail: true } };
  }
  if (taskId !== undefined) {
    const task = await call<SharedTask>('task.show', { teamId, taskId });
    return {
      text: `Task #${taskId} ${task.blockedReason ?? 'was not claimed'}. Take another one.`,
      data: { task: null },
    };
  }
  const { tasks } = await call<ResultOf<'team.status'>>('team.status', { teamId });
  const open = explainNothing(tasks);
  return {
    text:
      open === undefined
        ? 'No task is left. Call TaskClaim with wait_seconds to wait for new ones.'
        : `No task is ready for you (${open}). Call TaskClaim with wait_seconds to wait.`,
    data: { task: null },
  };
}

function isFor(event: TeamEvent, memberId: string): boolean {
  if (event.type === 'message:sent') return event.copies.some(({ toId }) => toId === memberId);
  return event.type === 'shutdown:requested' && event.memberId === memberId;
}
