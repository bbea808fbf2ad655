import { TeamError } from '../../core/errors.ts';
import type { SharedTask } from '../../core/task.ts';
import type { Session } from '../session.ts';
import type { Visit } from '../tool.ts';

/** As many as a session remembers; an agent holds a few. */
const REMEMBERED = 64;

/** As many batches of a team as are looked through for one write: of 20,000 it took 49 ms, in which nobody else is served. */
const LOOKED_THROUGH = 2_000;

/** Keeps under which epoch the agent took a task. Who shares a session is not known: there the agent keeps it itself. */
export function rememberEpoch({ session, teamId }: Visit, { id, epoch }: SharedTask): void {
  if (session.shared) return;
  forgetEpoch({ session, teamId }, id);
  session.epochs.set(`${teamId}/${id}`, epoch);
  const [oldest] = session.epochs.keys();
  if (session.epochs.size > REMEMBERED && oldest !== undefined) session.epochs.delete(oldest);
}

/** The agent has done with a task. */
export function forgetEpoch({ session, teamId }: { session: Session; teamId: string }, taskId: string): void {
  session.epochs.delete(`${teamId}/${taskId}`);
}

/**
 * Under which epoch an agent writes to a task: the one that it says, or that it took the task under. Where that was
 * forgotten, by a restart or in favour of other sessions, the present one, unless the member took the task under another
 * since the session began, or that is too long ago to be told: then this may be the session that lost it, and the agent must
 * look before it says which it means.
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
    `Task ${taskId} changed hands since you began, and yours may be an earlier claim than the present one: look with TaskGet, and if it is yours give its epoch (now ${task.epoch})`,
  );
}

/** Which claim of a task is the present one. */
export function heldSince({ epoch, startedAt }: SharedTask): string {
  return `epoch ${epoch}${startedAt ? `, since ${startedAt.toISOString()}` : ''}`;
}

/** What an agent is told of a task that its member holds, and that this session did not take. */
export const OTHER_SESSION = 'If another session of yours works on it, leave it to that one.';

function isOver({ status }: SharedTask): boolean {
  return status === 'completed' || status === 'failed' || status === 'deleted';
}

/**
 * Whether the member took the task under another epoch than the present one since the session began; or may have, when it
 * holds it now: of what is too long ago nothing is known.
 */
async function heldBefore({ services, session, teamId }: Visit, task: SharedTask, memberId: string): Promise<boolean> {
  // What was never given back had one holder; what was claimed before the session began had no other since.
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
