import type { TeamEvent } from '../../src/core/event.ts';
import type { Journal, Seq } from '../../src/journal/journal.ts';

/** A wrapper around a real journal that records calls and can intercept appends. */
export interface WatchedJournal extends Journal {
  /** How many events each append had, failed ones included. */
  readonly appends: number[];
  /** How often a team was opened: each opening asks for a snapshot once. */
  readonly counts: { opened: number; batchesRead: number; following: number };
  /** Called before an append reaches the journal. If it throws, the append fails with that error. */
  beforeAppend: (team: string, expected: Seq, events: readonly TeamEvent[]) => void | Promise<void>;
  /** Called after an append is stored, before the caller gets the answer. */
  afterAppend: (team: string) => void | Promise<void>;
}

export function watchedJournal(journal: Journal): WatchedJournal {
  const counts = { opened: 0, batchesRead: 0, following: 0 };
  const appends: number[] = [];
  const watched: WatchedJournal = {
    ...journal,
    counts,
    appends,
    beforeAppend() {},
    afterAppend() {},

    async append(team, expected, events) {
      appends.push(events.length);
      await watched.beforeAppend(team, expected, events);
      const seq = await journal.append(team, expected, events);
      await watched.afterAppend(team);
      return seq;
    },

    async *read(team, after) {
      for await (const batch of journal.read(team, after)) {
        counts.batchesRead++;
        yield batch;
      }
    },

    async *follow(team, after, signal) {
      counts.following++;
      try {
        yield* journal.follow(team, after, signal);
      } finally {
        counts.following--;
      }
    },

    loadSnapshot(team) {
      counts.opened++;
      return journal.loadSnapshot(team);
    },
  };
  return watched;
}

/** A door at which callers wait until it is opened. */
export function door(): { pass: () => Promise<void>; open: () => void; waiting: () => number } {
  let waiting = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    open,
    waiting: () => waiting,
    pass() {
      waiting++;
      return opened;
    },
  };
}

/** Lets all pending callbacks run: 20 turns of the event loop. */
export async function settleTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}
