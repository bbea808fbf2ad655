import { OVER_BUDGET } from '../core/waiting.ts';
import type { Bench } from './bench.ts';
import type { Door } from './door.ts';
import type { Watch } from './watch.ts';

/** Whether a budget of the member, or of its team, is used up. */
export async function isSpent(door: Door, who: Bench['who']): Promise<boolean> {
  const [tightest] = await door.call('budget.show', who);
  return tightest !== undefined && tightest.share >= 1;
}

/**
 * Resolves with true when a turn may begin, at once or after a person raised the budget; with false when interrupted.
 * Whoever follows the team sees that the member waits in the middle of its work.
 */
export async function waitForBudget(
  { door, who, tellWaiting }: Pick<Bench, 'door' | 'who' | 'tellWaiting'>,
  watch: Watch,
  isInterrupted: () => Promise<boolean>,
): Promise<boolean> {
  let isTold = false;
  try {
    while (await isSpent(door, who)) {
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
