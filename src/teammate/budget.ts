import type { TaskJson } from '../agents/agent.ts';
import { OVER_BUDGET } from '../core/waiting.ts';
import type { ResultOf } from '../operations/index.ts';
import type { Bench } from './bench.ts';
import { codeOf } from './door.ts';
import type { Door } from './door.ts';
import type { Watch } from './watch.ts';

/** Whether a budget of the member, of its team, or of the task that it does is used up. */
export async function isSpent(door: Door, who: Bench['who'], task?: TaskJson): Promise<boolean> {
  const [tightest] = await budgetsOf(door, who, task?.id);
  return tightest !== undefined && tightest.share >= 1;
}

/** How far the budgets are used up that count for the member, and for a task; the tightest first. */
export async function budgetsOf(
  door: Door,
  who: Bench['who'],
  taskId: string | undefined,
): Promise<ResultOf<'budget.show'>> {
  if (taskId === undefined) return door.call('budget.show', who);
  try {
    return await door.call('budget.show', { ...who, taskId });
  } catch (error) {
    if (codeOf(error) !== 'not_found') throw error;
    // The task was deleted, so it has no budget any more.
    return door.call('budget.show', who);
  }
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
