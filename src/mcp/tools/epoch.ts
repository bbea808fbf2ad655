import { TeamError } from '../../core/errors.ts';
import type { SharedTask } from '../../core/task.ts';
import type { Session } from '../session.ts';
import type { Visit } from '../tool.ts';

/** How many epochs a session remembers; an agent holds a few tasks. */
const REMEMBERED = 64;

/** How many batches are searched for one write. 20,000 took 49 ms, which blocks all other callers. */
const LOOKED_THROUGH = 2_000;

/** Remembers the epoch of a claim. A shared session has several agents, so there each agent keeps its epochs itself. */
export function rememberEpoch({ session, teamId }: Visit, { id, epoch }: SharedTask): void {
  if (session.shared) return;
  forgetEpoch({ session, teamId }, id);
  session.epochs.set(`${teamId}/${id}`, epoch);
  const [oldest] = session.epochs.keys();
  if (session.epochs.size > REMEMBERED && oldest !== undefined) session.epochs.delete(oldest);
}

/** Forgets the epoch: the agent is done with the task. */
export function forgetEpoch({ session, teamId }: { session: Session; teamId: string }, taskId: string): void {
  session.epochs.delete(`${teamId}/${taskId}`);
}

/**
 * The epoch under which an agent writes to a task: the one it names, or the one of its claim. The session may have
 * forgotten that one, through a restart or in favour of other sessions. Then it is the current epoch, with an
 * exception: the member claimed the task under another epoch since the session began, or the history is too long to
 * tell. Then this may be the session that lost the task, so the agent must look and name the epoch.
 */
export async function epochFor(visit: Visit, taskId: string, said: number | undefined): Promise<number | undefined> {
  const { call, session, teamId, memberId } = visit;
  const known = said ?? session.epochs.get(`${teamId}/${taskId}`);
  if (known !== undefined || memberId === undefined) return known;
  const task = await call<SharedTask>('task.show', { teamId, taskId });
  if (isOver(task)) return undefined;
  if (!(await heldBefore(visit, task, memberId))) return task.epoch;
  throw new TeamError(
    'stale_epoch',
    `Task ${taskId} changed hands since you started, and your claim may be an old one: check with TaskGet, and if it is yours pass its epoch (now ${task.epoch})`,
  );
}

/** Describes the current claim of a task. */
export function heldSince({ epoch, startedAt }: SharedTask): string {
  return `epoch ${epoch}${startedAt ? `, since ${startedAt.toISOString()}` : ''}`;
}

/** Advice about a task that the agent's member holds, but that this session did not claim. */
export const OTHER_SESSION = 'If another session of yours works on it, leave it to that one.';

function isOver({ status }: SharedTask): boolean {
  return status === 'completed' || status === 'failed' || status === 'deleted';
}

/**
 * Whether the member claimed the task under an epoch other than the current one since the session began. Also true if
 * it holds the task now and the history is too long to tell.
 */
async function heldBefore({ services, session, teamId }: Visit, task: SharedTask, memberId: string): Promise<boolean> {
  // At epoch 1 the task had one holder. A claim from before the session began had no other since.
  if (task.epoch <= 1) return false;
  if (task.startedAt !== undefined && task.startedAt.getTime() < session.began) return false;
  const since = Math.max(session.began, task.createdAt.getTime());
  const first = Math.max(0, (await services.ledger.view(teamId, (_, seq) => seq)) - LOOKED_THROUGH);
  let isKnown = first === 0;
  for await (const { events } of services.ledger.read(teamId, first)) {
    for (const event of events) {
      isKnown ||= event.at < since;
      if (event.type !== 'task:claimed' || event.taskId !== task.id || event.memberId !== memberId) continue;
      if (event.at >= session.began && event.epoch !== task.epoch) return true;
    }
  }
  return !isKnown && task.status === 'in_progress' && task.assigneeId === memberId;
}
