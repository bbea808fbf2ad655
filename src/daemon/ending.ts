import { createClosers } from '../runtime/closers.ts';
import type { Closers } from '../runtime/closers.ts';
import type { Log } from '../runtime/log.ts';

/** How a daemon ends: once, in the reverse order of its start. */
export interface Ending {
  /** Each step of the start adds what it opened. */
  readonly closers: Closers;
  /** Resolves when the daemon has ended; rejects if it cannot go on. */
  readonly ended: Promise<void>;
  /** The members' processes go on, for the next daemon to take over. */
  keepsMembers: boolean;
  /** From now on, close errors go to this log. */
  tell(log: Log): void;
  close(): Promise<void>;
  /** The daemon cannot go on: rejects `ended`. */
  fail(error: unknown): void;
  /** The start failed: closes what was opened so far. */
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
