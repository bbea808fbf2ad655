import { createClosers } from '../runtime/closers.ts';
import type { Closers } from '../runtime/closers.ts';
import type { Log } from '../runtime/log.ts';

/** How a daemon ends: once, in the reverse order of its start. */
export interface Ending {
  /** Each step of the start adds what it opened. */
  readonly closers: Closers;
  /** Resolves when the daemon has ended; rejects when it cannot go on. */
  readonly ended: Promise<void>;
  /** The members' processes go on, for the next daemon to take over. */
  keepsMembers: boolean;
  /** From now on this log is told what could not be closed. */
  tell(log: Log): void;
  close(): Promise<void>;
  /** It can't go on: whoever waits for the end hears why. */
  fail(error: unknown): void;
  /** It never started: closes what was opened so far. */
  abandon(error: unknown): Promise<void>;
}

/** Prepares the end of a daemon that is about to start. */
export function openEnding(): Ending {
  const end = Promise.withResolvers<void>();
  // Nobody has to wait for the end.
  end.promise.catch(() => {});
  let log: Log | undefined;
  const closers = createClosers((error, name) => log?.error('close.failed', { name, error }));
  return {
    closers,
    ended: end.promise,
    keepsMembers: false,
    tell(told) {
      log = told;
    },
    close: () => closers.close().then(end.resolve),
    fail: end.reject,
    async abandon(error) {
      log?.error('daemon.failed', { error });
      await closers.close();
    },
  };
}
