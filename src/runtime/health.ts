import type { Log } from './log.ts';

/** What is wrong at the moment, if anything. */
export interface Health {
  /** Something does not work; said again it is only noted. `what` is for people, `facts` for the log. */
  raise(key: string, what: string, facts?: Readonly<Record<string, unknown>>): void;
  /** It works again, or it always did. */
  clear(key: string): void;
  /** For people and programs that ask how it is. */
  report(): { status: 'ok' | 'degraded'; problems: string[] };
}

/** Keeps what is wrong, and logs when something goes wrong or is right again. `now` says what is wrong only as long as it is. */
export function createHealth(log: Log, now: () => string | undefined = () => undefined): Health {
  const open = new Map<string, { what: string; since: number }>();
  const problems = (): string[] =>
    [...open.values()].map(({ what, since }) => `${what} (since ${new Date(since).toISOString()})`).concat(now() ?? []);
  return {
    raise(key, what, facts = {}) {
      if (!open.has(key)) log.error('health.degraded', { problem: key, what, ...facts });
      open.set(key, { what, since: open.get(key)?.since ?? Date.now() });
    },
    clear(key) {
      const problem = open.get(key);
      if (!problem) return;
      open.delete(key);
      log.info('health.restored', { problem: key, lastedMs: Date.now() - problem.since });
    },
    report: () => {
      const wrong = problems();
      return { status: wrong.length > 0 ? 'degraded' : 'ok', problems: wrong };
    },
  };
}
