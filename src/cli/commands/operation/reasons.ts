import type { ResultOf } from '../../../operations/index.ts';
import { openClient } from '../../reach/connect.ts';
import { clean } from '../../show/text.ts';
import { count } from '../../show/views/details.ts';
import { taskName } from '../../show/words.ts';

/** What somebody wanted to claim; without a task, the next one. */
interface Wanted {
  readonly teamId: string;
  readonly taskId?: string;
}

/** Why there is nothing to claim: what the task waits for; no tasks, all over, or where the open ones stand. */
export async function explainNothingClaimed(environment: NodeJS.ProcessEnv, wanted: Wanted): Promise<string> {
  const { teamId, taskId } = wanted;
  const client = openClient(environment, { start: false });
  try {
    const signal = AbortSignal.timeout(2_000);
    if (taskId !== undefined) {
      const { blockedReason = 'was not ready' } = await client.call('task.show', { teamId, taskId }, { signal });
      return `Task ${taskName(taskId)} ${clean(blockedReason)}\n`;
    }
    const { tasks } = await client.call('team.status', { teamId }, { signal });
    return `There is nothing to claim now: ${reasonOf(tasks, clean(teamId))}\n`;
  } catch {
    return 'There is nothing to claim now.\n';
  } finally {
    client.close();
  }
}

function reasonOf(tasks: Readonly<Record<string, number>>, team: string): string {
  const { pending = 0, blocked = 0, in_progress: held = 0, completed = 0, failed = 0 } = tasks;
  const over = completed + failed;
  if (pending + blocked + held + over === 0) return `team ${team} has no tasks; troupe task add "..." --team ${team}`;
  if (pending + blocked + held === 0) return over === 1 ? 'the only task is over' : `all ${over} tasks are over`;
  const parts = [
    [pending, 'ready but not for you'],
    [blocked, blocked === 1 ? 'waits for another' : 'wait for others'],
    [held, 'in progress'],
  ] as const;
  const open = parts.filter(([number]) => number > 0);
  return `of ${count(pending + blocked + held, 'open task')} ${open.map(([number, what]) => `${number} ${what}`).join(', ')}; troupe task list --team ${team}`;
}

/** What the work on a task waits for that a person has to answer, and how; nothing where it does not wait. */
export async function explainWaiting(environment: NodeJS.ProcessEnv, task: ResultOf<'task.show'>): Promise<string> {
  if (task.status !== 'in_progress') return '';
  const { teamId, id, assigneeId } = task;
  const client = openClient(environment, { start: false });
  try {
    const signal = AbortSignal.timeout(2_000);
    const pending = await client.call('request.list', { teamId, status: 'pending' }, { signal });
    return pending
      .filter((request) => request.kind !== 'shutdown')
      .filter((request) => (request.taskId === undefined ? request.memberId === assigneeId : request.taskId === id))
      .map(({ kind, id: request }) => `\nIt waits for a person (${kind}): troupe approve ${clean(request)}\n`)
      .join('');
  } catch {
    // The task was shown, which is what was asked for.
    return '';
  } finally {
    client.close();
  }
}
