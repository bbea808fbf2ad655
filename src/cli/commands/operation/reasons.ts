import { explainNothing } from '../../../core/obstacles.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { openClient } from '../../reach/connect.ts';
import { clean } from '../../show/text.ts';
import { answerCommand, taskName } from '../../show/words.ts';

/** The task that the caller wanted to claim; without an id, the next one. */
interface Wanted {
  readonly teamId: string;
  readonly taskId?: string;
}

/** Why there is nothing to claim: what the task waits for; or that there are no tasks, or why none of them is ready. */
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
  const open = explainNothing(tasks);
  if (open !== undefined) return `${open}; troupe task list --team ${team}`;
  const { completed = 0, failed = 0 } = tasks;
  const over = completed + failed;
  if (over === 0) return `team ${team} has no tasks; troupe task add "..." --team ${team}`;
  return over === 1 ? 'the only task is finished' : `all ${over} tasks are finished`;
}

/** The requests that a task waits for and how a person answers them; empty if there are none. */
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
      .map((request) => `\nIt waits for a person (${request.kind}): ${answerCommand(request)} ${clean(request.id)}\n`)
      .join('');
  } catch {
    // The task was shown, so a failure here is ignored.
    return '';
  } finally {
    client.close();
  }
}
