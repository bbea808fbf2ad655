import type { TeamEvent } from '../core/event.ts';
import type { Journal } from '../journal/journal.ts';

/** The result of one append. */
export interface Append {
  readonly team: string;
  readonly events: readonly TeamEvent[];
  /** On the clock of `performance.now`. */
  readonly start: number;
  readonly ms: number;
  readonly error?: unknown;
}

/** Gets what a journal does. Must not throw. */
export interface JournalObserver {
  appended(append: Append): void;
  /** A team is about to be removed. */
  dropping(team: string): Promise<void>;
  dropped(team: string): void;
}

/** The same journal, with an observer. */
export function observeJournal(journal: Journal, observer: JournalObserver): Journal {
  return {
    ...journal,
    async append(team, expected, events) {
      const start = performance.now();
      const tell = (outcome: { error?: unknown }) =>
        observer.appended({ team, events, start, ms: performance.now() - start, ...outcome });
      try {
        const seq = await journal.append(team, expected, events);
        tell({});
        return seq;
      } catch (error) {
        tell({ error });
        throw error;
      }
    },
    async drop(team) {
      await observer.dropping(team);
      await journal.drop(team);
      observer.dropped(team);
    },
  };
}
