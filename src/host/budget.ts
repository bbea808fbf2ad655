import type { TaskJson } from '../agents/agent.ts';
import { OVER_BUDGET } from '../core/waiting.ts';
import type { Bench } from './bench.ts';
import type { Door } from './door.ts';
import type { Watch } from './watch.ts';

/** Whether a budget of the member, of its team, or of the task that it does is used up. */
export async function isSpent(door: Door, who: Bench['who'], task?: TaskJson): Promise<boolean> {
  const [tightest] = await door.call('budget.show', { ...who, ...(task && { taskId: task.id }) });
  return tightest !== undefined && tightest.share >= 1;
}

/**
 * Resolves with true when a turn may begin, at once or after a person raised the budget; with false when interrupted.
 * Whoever follows the team sees that the member waits in the middle of its work.
 */
export async function waitForBudget(
  { door, who, tellWaiting }: Pick<Bench, 'door' | 'who' | 'tellWaiting'>,
  task: TaskJson | undefined,
  { watch, isInterrupted }: { watch: Watch; isInterrupted: () => Promise<boolean> },
): Promise<boolean> {
  let isTold = false;
  try {
    while (await isSpent(door, who, task)) {
      if (await isInterrupted()) return false;
      if (!isTold) await tellWaiting({ reason: OVER_BUDGET });
      isTold = true;
      await watch.next();
    }
    return true;
  } finally {
    if (isTold) await tellWaiting(undefined);
  }
}
