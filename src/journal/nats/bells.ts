import type { Link } from './link.ts';

/** The net below the bells: a message without a stream can get lost. */
const POLL_MS = 2_000;

/** Tells those who wait for a team that does not exist that one was made, and those who follow one that it was dropped. */
export function openBells(link: Link) {
  const waiting = new Map<string, Set<() => void>>();
  const subscription = link.nc.subscribe(link.names.bells, {
    callback(error, message) {
      // Not allowed to listen, then: who waits looks now and then.
      if (error) return;
      for (const wake of waiting.get(message.subject.split('.').at(-1) ?? '') ?? []) wake();
    },
  });

  /** Calls back whenever the bell of a team is rung, until the function that it returns is called. */
  function listen(encoded: string, wake: () => void): () => void {
    const set = waiting.get(encoded) ?? new Set();
    waiting.set(encoded, set.add(wake));
    return () => {
      set.delete(wake);
      if (set.size === 0 && waiting.get(encoded) === set) waiting.delete(encoded);
    };
  }

  return {
    /** Only those who happen to wait hear it. */
    ring(encoded: string): void {
      if (!link.nc.isClosed()) link.nc.publish(link.names.bell(encoded));
    },

    listen,

    /** Resolves when something may have changed. */
    async wait(encoded: string, signal: AbortSignal): Promise<void> {
      if (signal.aborted) return;
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
