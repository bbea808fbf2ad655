import type { Journal } from '../../journal/journal.ts';

/** Whether this daemon may take itself for one of the living. */
export interface Lease {
  /** Resolves once it may write: at once while the lease lasts, else after it was renewed and what was lost is known. */
  valid(): Promise<void>;
}

/** A moment by both clocks, because one stands still while the machine sleeps and the other can be set. */
export interface Clocks {
  readonly steady: number;
  readonly wall: number;
}

/** What both clocks say now. */
export function readClocks(): Clocks {
  return { steady: performance.now(), wall: Date.now() };
}

/** How long ago that was, as the clock says that went further. */
export function since(then: Clocks): number {
  const now = readClocks();
  return Math.max(now.steady - then.steady, now.wall - then.wall);
}

/**
 * The same journal for a daemon with a lease: after a pause that was longer than it, others may have been given what was
 * ours, so nothing is written before we have looked. What was decided before the pause is then refused by its old sequence.
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
