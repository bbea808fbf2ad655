import type { SharedTask } from '../../core/task.ts';
import type { EndedTask } from '../../operations/task.ts';
import type { Answer, Visit } from '../tool.ts';
import { fromTaskWords } from '../words.ts';
import type { TaskWords } from '../words.ts';
import { aboutTask, whatWasSkipped } from './about-task.ts';
import { epochFor, forgetEpoch, rememberEpoch } from './epoch.ts';
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
 * One step of the ledger: new edges, owner, status and text are there together or not at all. Said again, what is done
 * already changes nothing.
 */
export async function updateTask(visit: Visit, input: Update): Promise<Answer> {
  const { taskId, status, addBlocks = [], addBlockedBy = [], epoch: meant, ...words } = input;
  const { call, teamId, memberId } = visit;
  const changes = fromTaskWords(await withOwner(visit, words));
  const owner = changes['assigneeId'] as string | null | undefined;
  // Claude Code lets a lead write that another has begun. Here only who works on a task can begin it.
  const reserves = status === 'in_progress' && typeof owner === 'string' && owner !== memberId;
  const newStatus = reserves ? undefined : status;
  let task: EndedTask | undefined;
  if (newStatus !== undefined || Object.keys(changes).length + addBlockedBy.length + addBlocks.length > 0) {
    const epoch = (await writesAsHolder(visit, taskId, newStatus)) ? await epochFor(visit, taskId, meant) : meant;
    task = await call<EndedTask>('task.update', {
      teamId,
      taskId,
      ...changes,
      ...(addBlockedBy.length > 0 && { addDependencies: addBlockedBy }),
      ...(addBlocks.length > 0 && { addDependents: addBlocks }),
      ...(newStatus !== undefined && { status: newStatus }),
      ...(epoch !== undefined && { epoch }),
    });
  }
  task ??= await call<SharedTask>('task.show', { teamId, taskId });
  if (newStatus === 'in_progress') rememberEpoch(visit, task);
  else if (newStatus !== undefined) forgetEpoch(visit, taskId);

  const names = [
    ...Object.keys(words).filter((name) => words[name as keyof typeof words] !== undefined),
    ...(newStatus === undefined ? [] : ['status']),
    ...(addBlocks.length > 0 ? ['blocks'] : []),
    ...(addBlockedBy.length > 0 ? ['blockedBy'] : []),
  ];
  const next = reserves ? `It is reserved for ${owner} and begins when ${owner} claims it.` : NEXT[newStatus ?? ''];
  const said =
    names.length > 0
      ? `Updated task #${taskId} ${names.join(', ')}${whatWasSkipped(task)}`
      : `Task #${taskId} is unchanged`;
  return aboutTask(next === undefined ? said : `${said}\n\n${next}`, task);
}

/** A lead takes a task from its holder whatever it held itself before. */
async function writesAsHolder(
  { call, teamId, memberId }: Visit,
  taskId: string,
  newStatus: string | undefined,
): Promise<boolean> {
  if (newStatus !== 'pending') return newStatus === 'completed';
  const { status, assigneeId } = await call<SharedTask>('task.show', { teamId, taskId });
  return status === 'in_progress' && assigneeId === memberId;
}

const NEXT: Readonly<Record<string, string | undefined>> = {
  in_progress: 'You hold it now. Finish it with TaskComplete.',
  completed: 'Task completed. Call TaskClaim for your next task, or TaskList to see what your work unblocked.',
};
