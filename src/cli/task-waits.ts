import type { ResultOf } from '../operations/index.ts';
import { openClient } from './connect.ts';
import { clean } from './text.ts';

type Task = ResultOf<'task.show'>;

/** What the work on a task waits for that a person has to answer, and how; nothing where it does not wait. */
export async function explainWaiting(environment: NodeJS.ProcessEnv, task: Task): Promise<string> {
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
