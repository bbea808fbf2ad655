import type { TeamEvent } from '../core/event.ts';
import { rowOf } from '../core/events/table.ts';
import { ringAt } from '../runtime/wall-clock.ts';
import type { Door } from './door.ts';
import { isPassing, pauseBeforeRetry } from './patience.ts';

/** How a teammate watches its team while it works or waits. */
export interface Watch {
  /**
   * Resolves at the next event that may concern the member; at once if there was one since the last call. Says whether
   * all such events were the member's own actions. With `until`, also resolves at that time.
   */
  next(options?: { readonly until?: number }): Promise<{ readonly isOwn: boolean }>;
  /** Calls back for every event until the returned function is called. */
  onEvent(listener: (event: TeamEvent) => void): () => void;
}

/** Follows the team until the signal aborts. */
export function watchTeam(
  door: Door,
  { teamId, memberId, leads }: { teamId: string; memberId: string; leads: boolean },
  { signal, onError }: { signal: AbortSignal; onError: (error: unknown) => void },
): Watch {
  const listeners = new Set<(event: TeamEvent) => void>();
  let pending = true;
  let isOwn = false;
  /** The last batch seen. */
  let last: number | undefined;
  let wake = (): void => {};
  // A member that is to stop does not sleep, even if the team could not be followed.
  signal.addEventListener('abort', () => notice(), { once: true });
  // A team that is gone cannot be followed; the next call reports it.
  void followOn().finally(() => notice());

  function notice(by?: string): void {
    isOwn &&= by === memberId;
    pending = true;
    wake();
  }

  /** Follows until the end. A temporary error must not leave the member deaf. */
  async function followOn(): Promise<void> {
    for (let attempt = 1; !signal.aborted; attempt++) {
      const before = last;
      try {
        await follow();
        return;
      } catch (error) {
        if (signal.aborted) return;
        onError(error);
        if (!isPassing(error)) return;
      }
      if (last !== before) attempt = 1;
      await pauseBeforeRetry(attempt, signal);
    }
  }

  async function follow(): Promise<void> {
    last ??= (await door.call('team.status', { teamId })).seq;
    for await (const { seq, events } of door.changes(signal, last)) {
      last = seq;
      for (const event of events) {
        for (const listener of listeners) listener(event);
        // An older process may hear of an event that it does not know.
        const wakes = rowOf(event)?.wakes(event, memberId) ?? false;
        if (wakes || (leads && event.by !== memberId && concernsLead(event))) {
          notice(event.by);
        }
      }
    }
  }

  return {
    async next({ until } = {}) {
      if (!pending && !signal.aborted) {
        // A promise that raced a timer would stay behind, and take an event from the next caller.
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const takeBack = until === undefined ? undefined : ringAt(until, resolve);
        await promise;
        takeBack?.();
      }
      const said = { isOwn };
      pending = false;
      isOwn = true;
      return said;
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * What may be worth a digest. Not every completion: a member that completed the last task goes idle afterwards, but a
 * person does not.
 */
function concernsLead(event: TeamEvent): boolean {
  const { type } = event;
  if (type === 'task:completed') return event.by !== event.memberId;
  return type === 'teammate:idle' || type === 'teammate:stopped' || type === 'task:failed' || type === 'plan:submitted';
}

/** Resolves with true after this many milliseconds, with false as soon as it is interrupted. */
export async function pauseFor(ms: number, watch: Watch, isInterrupted: () => Promise<boolean>): Promise<boolean> {
  const until = Date.now() + ms;
  while (Date.now() < until) {
    if (await isInterrupted()) return false;
    await watch.next({ until });
  }
  return true;
}
