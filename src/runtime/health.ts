import type { Log } from './log.ts';

/** The current problems. */
export interface Health {
  /** Reports a problem; a repeated report only updates it. `what` is for people, `facts` for the log. */
  raise(key: string, what: string, facts?: Readonly<Record<string, unknown>>): void;
  /** The problem is over, or never was. */
  clear(key: string): void;
  /** For people and programs that ask for the status. */
  report(): { status: 'ok' | 'degraded'; problems: string[] };
}

/** Keeps the problems, and logs when one starts or ends. `now` returns a problem that exists at this moment only. */
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
