import type { Link } from './link.ts';
import { lastWord } from './names.ts';

/** The fallback if a bell is lost: messages outside of a stream can be. */
const POLL_MS = 2_000;

/** Wakes those that wait for a team to be created, and followers of a team that was dropped. */
export function openBells(link: Link) {
  const waiting = new Map<string, Set<() => void>>();
  const subscription = link.nc.subscribe(link.names.bells, {
    callback(error, message) {
      // We may not listen. Waiters poll then.
      if (error) return;
      for (const wake of waiting.get(lastWord(message.subject)) ?? []) wake();
    },
  });

  /** Calls `wake` whenever the bell of a team rings; returns a function that stops that. */
  function listen(encoded: string, wake: () => void): () => void {
    const set = waiting.get(encoded) ?? new Set();
    waiting.set(encoded, set.add(wake));
    return () => {
      set.delete(wake);
      if (set.size === 0 && waiting.get(encoded) === set) waiting.delete(encoded);
    };
  }

  return {
    /** Only current listeners hear it. */
    ring(encoded: string): void {
      link.nc.publish(link.names.bell(encoded));
    },

    listen,

    /** Resolves when something may have changed. */
    async wait(encoded: string, signal: AbortSignal): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = listen(encoded, resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
      const timer = setTimeout(resolve, POLL_MS);
      try {
        await promise;
      } finally {
        clearTimeout(timer);
        stop();
      }
    },

    close: () => subscription.unsubscribe(),
  };
}

export type Bells = ReturnType<typeof openBells>;
