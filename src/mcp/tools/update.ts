import type { SharedTask } from '../../core/task.ts';
import type { EndedTask } from '../../operations/task.ts';
import type { Answer, Visit } from '../tool.ts';
import { fromTaskWords } from '../words.ts';
import type { TaskWords } from '../words.ts';
import { aboutTask, LANDING_MS, waitsToLand, whatWasSkipped } from './about-task.ts';
import { beginWork } from './begin-work.ts';
import { epochFor, forgetEpoch, heldSince, OTHER_SESSION, rememberEpoch } from './epoch.ts';
import { withOwner } from './roster.ts';

/** What an agent says to change a task. */
interface Update extends TaskWords {
  readonly taskId: string;
  readonly status?: string | undefined;
  readonly owner?: string | undefined;
  readonly addBlocks?: readonly string[] | undefined;
  readonly addBlockedBy?: readonly string[] | undefined;
  readonly epoch?: number | undefined;
}

/**
 * One step of the ledger: it changes edges, owner, status and text together, or nothing. Repeating a change that is
 * already made has no effect.
 */
export async function updateTask(visit: Visit, input: Update): Promise<Answer> {
  const { taskId, status, addBlocks = [], addBlockedBy = [], epoch: meant, ...words } = input;
  const { call, teamId, memberId } = visit;
  const changes = fromTaskWords(await withOwner(visit, words));
  const owner = changes['assigneeId'] as string | null | undefined;
  // Claude Code lets a lead mark a task as begun by another. Here only the member that works on a task can begin it.
  const reserves = status === 'in_progress' && typeof owner === 'string' && owner !== memberId;
  const newStatus = reserves ? undefined : status;
  let task: EndedTask | undefined;
  let isTakenUp = false;
  if (newStatus !== undefined || Object.keys(changes).length + addBlockedBy.length + addBlocks.length > 0) {
    const under = await epochToWrite(visit, { taskId, newStatus, owner, meant });
    const { epoch } = under;
    isTakenUp = under.isTakenUp;
    task = await call<EndedTask>('task.update', {
      teamId,
      taskId,
      ...changes,
      ...(addBlockedBy.length > 0 && { addDependencies: addBlockedBy }),
      ...(addBlocks.length > 0 && { addDependents: addBlocks }),
      ...(newStatus !== undefined && { status: newStatus }),
      ...(newStatus === 'completed' && { wait: LANDING_MS }),
      ...(epoch !== undefined && { epoch }),
    });
  }
  if (newStatus === 'completed' && task?.status === 'in_progress') return aboutTask(waitsToLand(task), task);
  task ??= await call<SharedTask>('task.show', { teamId, taskId });
  if (newStatus === 'in_progress') {
    rememberEpoch(visit, task);
    await beginWork(visit, task);
  } else if (newStatus !== undefined) forgetEpoch(visit, taskId);

  const names = [
    ...Object.keys(words).filter((name) => words[name as keyof typeof words] !== undefined),
    ...(newStatus === undefined ? [] : ['status']),
    ...(addBlocks.length > 0 ? ['blocks'] : []),
    ...(addBlockedBy.length > 0 ? ['blockedBy'] : []),
  ];
  let next = NEXT[newStatus ?? ''];
  if (reserves) next = `It is reserved for ${owner} and begins when ${owner} claims it.`;
  if (isTakenUp) next = `You held it already (${heldSince(task)}). ${OTHER_SESSION} Else finish it with TaskComplete.`;
  const said =
    names.length > 0
      ? `Updated task #${taskId} ${names.join(', ')}${whatWasSkipped(task)}`
      : `Task #${taskId} is unchanged`;
  return aboutTask(next === undefined ? said : `${said}\n\n${next}`, task);
}

interface Write {
  readonly taskId: string;
  readonly newStatus: string | undefined;
  readonly owner: string | null | undefined;
  /** The epoch that the agent names. */
  readonly meant: number | undefined;
}

/**
 * The epoch of an update, and whether the session takes over a task that its member held before. Changes that only a
 * holder may make count for the session that claimed the task, not for another session of the member. A lead can take a
 * task from its holder, whatever the lead held before.
 */
async function epochToWrite(
  visit: Visit,
  { taskId, newStatus, owner, meant }: Write,
): Promise<{ epoch: number | undefined; isTakenUp: boolean }> {
  const { services, session, teamId, memberId } = visit;
  if (newStatus === 'completed') return { epoch: await epochFor(visit, taskId, meant), isTakenUp: false };
  const begins = newStatus === 'in_progress';
  const passesOn = owner !== undefined && owner !== memberId;
  if (!begins && newStatus !== 'pending' && !passesOn) return { epoch: meant, isTakenUp: false };
  // Reads the state directly, so that the operation reports other errors of the update first.
  const now = await services.ledger.view(teamId, (state) => state.tasks.get(taskId));
  if (now?.status === 'in_progress' && now.assigneeId === memberId) {
    const epoch = await epochFor(visit, taskId, meant);
    return { epoch, isTakenUp: begins && session.epochs.get(`${teamId}/${taskId}`) !== epoch };
  }
  // If another session of the member claims the task meanwhile, this session must not take that claim for its own.
  return { epoch: meant ?? (begins ? now?.epoch : undefined), isTakenUp: false };
}

const NEXT: Readonly<Record<string, string | undefined>> = {
  in_progress: 'You hold it now. Finish it with TaskComplete.',
  completed: 'Task completed. Call TaskClaim for your next task, or TaskList to see what your work unblocked.',
};
