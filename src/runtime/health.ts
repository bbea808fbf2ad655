import type { Log } from './log.ts';

/** What is wrong at the moment, if anything. */
export interface Health {
  /** Something does not work; said again it is only noted. `what` is for people, `facts` for the log. */
  raise(key: string, what: string, facts?: Readonly<Record<string, unknown>>): void;
  /** It works again, or it always did. */
  clear(key: string): void;
  problems(): string[];
}

/** Keeps what is wrong, and logs when something goes wrong or is right again. */
export function createHealth(log: Log): Health {
  const problems = new Map<string, { what: string; since: number }>();
  return {
    raise(key, what, facts = {}) {
      if (!problems.has(key)) log.error('health.degraded', { problem: key, what, ...facts });
      problems.set(key, { what, since: problems.get(key)?.since ?? Date.now() });
    },
    clear(key) {
      const problem = problems.get(key);
      if (!problem) return;
      problems.delete(key);
      log.info('health.restored', { problem: key, lastedMs: Date.now() - problem.since });
    },
    problems: () => [...problems.values()].map(({ what, since }) => `${what} (since ${new Date(since).toISOString()})`),
  };
}
