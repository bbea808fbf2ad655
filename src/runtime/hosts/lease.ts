import type { Journal } from '../../journal/journal.ts';

/** Whether this daemon may still write. */
export interface Lease {
  /** Resolves once it may write: at once while the lease lasts, else after a renewal and a check for losses. */
  valid(): Promise<void>;
}

/** A time by both clocks: one stops while the machine sleeps, the other can be set. */
export interface Clocks {
  readonly steady: number;
  readonly wall: number;
}

/** Reads both clocks. */
export function readClocks(): Clocks {
  return { steady: performance.now(), wall: Date.now() };
}

/** The elapsed time, by the clock that advanced more. */
export function since(then: Clocks): number {
  const now = readClocks();
  return Math.max(now.steady - then.steady, now.wall - then.wall);
}

/**
 * A journal for a daemon with a lease. After a pause longer than the lease, others may own what was ours, so nothing is
 * written before the lease is renewed. A command decided before the pause is then refused by its old sequence.
 */
export function fencedJournal(journal: Journal, lease: () => Lease | undefined): Journal {
  return {
    ...journal,
    async append(team, expected, events) {
      await lease()?.valid();
      return journal.append(team, expected, events);
    },
  };
}
