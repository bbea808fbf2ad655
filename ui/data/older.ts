import type { Batch, Replica } from '../../src/client/replica.ts';
import { call } from './daemon.ts';

/** The pause after a failed read. The client itself has already waited for the daemon. */
const RETRY_MS = 2_000;

/** If the page is never idle, the history is read anyway. */
const IDLE_WITHIN_MS = 200;

/**
 * Reads the batches up to `until` into a replica, the oldest first. Each page is read in about 10 ms, when the page has
 * nothing else to do. Ends when all are there, or with the signal.
 */
export async function readOlder(
  replica: Replica,
  { teamId, until, signal, onRead }: { teamId: string; until: number; signal: AbortSignal; onRead: () => void },
): Promise<void> {
  for (let after = 0; after < until; after = replica.batches.length) {
    await idle();
    if (signal.aborted) return;
    try {
      const limit = Math.min(10_000, until - after);
      const page = await call('event.list', { teamId, after, limit }, { signal, onMore: () => undefined });
      // The same batches as those of a subscription: the person at the screen sees all events.
      for (const batch of page as unknown as Batch[]) replica.addOlder(batch);
      onRead();
    } catch {
      // If the team is gone, the subscription says so and the signal ends this. Otherwise the journal may be away.
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

function idle(): Promise<unknown> {
  // Safari has no idle callback.
  if (!('requestIdleCallback' in globalThis)) return new Promise((resolve) => setTimeout(resolve));
  return new Promise((resolve) => requestIdleCallback(resolve, { timeout: IDLE_WITHIN_MS }));
}
