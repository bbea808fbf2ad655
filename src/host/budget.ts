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
 */
export async function waitForBudget(
  door: Door,
  who: Bench['who'],
  watch: Watch,
  isInterrupted: () => Promise<boolean>,
): Promise<boolean> {
  while (await isSpent(door, who)) {
    if (await isInterrupted()) return false;
    await watch.next();
  }
  return true;
}
