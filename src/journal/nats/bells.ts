import { openListeners } from '../listeners.ts';
import type { Link } from './link.ts';
import { lastWord } from './names.ts';

/** The fallback if a bell is lost: messages outside of a stream can be. */
const POLL_MS = 2_000;

/** Wakes those that wait for a team to be created, and followers of a team that was dropped. */
export function openBells(link: Link) {
  const listeners = openListeners();
  const subscription = link.nc.subscribe(link.names.bells, {
    callback(error, message) {
      // We may not listen. Waiters poll then.
      if (!error) listeners.wake(lastWord(message.subject));
    },
  });

  return {
    /** Only current listeners hear it. */
    ring(encoded: string): void {
      link.nc.publish(link.names.bell(encoded));
    },

    /** Calls a listener whenever the bell of a team rings; returns a function that stops that. */
    listen: (encoded: string, wake: () => void) => listeners.listen(encoded, wake),

    /** Resolves when something may have changed. */
    async wait(encoded: string, signal: AbortSignal): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = () => resolve();
      const stop = listeners.listen(encoded, end);
      const timer = setTimeout(end, POLL_MS);
      signal.addEventListener('abort', end);
      await promise;
      signal.removeEventListener('abort', end);
      clearTimeout(timer);
      stop();
    },

    close: () => subscription.unsubscribe(),
  };
}

export type Bells = ReturnType<typeof openBells>;
