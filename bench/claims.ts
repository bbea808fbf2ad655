import type { TeamEvent } from '../src/core/event.ts';
import type { SharedTaskList } from '../src/ledger/task-list.ts';
import { keepInFlight } from './rounds.ts';
import { WORKERS } from './team.ts';

/** Claims `count` tasks, `inFlight` at a time, each answered when it is durable; returns the ids that callers got. */
export async function claimAll(list: SharedTaskList, teamId: string, count: number, inFlight: number) {
  const ids: string[] = [];
  await keepInFlight(inFlight, count, async (i) => {
    const task = await list.claimNextTask(teamId, WORKERS[i % WORKERS.length] as string);
    if (task) ids.push(task.id);
  });
  return ids;
}

/** Checks that every task went to one caller, and that the disk agrees. */
export function checkClaims(answered: readonly string[], stored: readonly TeamEvent[], count: number): void {
  const claimed = stored.flatMap((event) => (event.type === 'task:claimed' ? [event.taskId] : []));
  for (const [ids, where] of [[answered, 'by the answers'] as const, [claimed, 'on disk'] as const]) {
    const different = new Set(ids).size;
    if (different !== ids.length) throw new Error(`${ids.length - different} double claims ${where}`);
    if (different !== count) throw new Error(`${different} of ${count} tasks claimed ${where}`);
  }
}
