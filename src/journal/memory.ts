import { TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import type { Journal, Seq, Snapshot, Stored } from './journal.ts';

interface Stream {
  /** Batches as JSON text: readers get what a disk would give, and cannot change what is stored. */
  readonly batches: string[];
  snapshot?: Snapshot;
}

/** A journal that lasts as long as its process. Several ledgers may share one. */
export function memoryJournal(): Journal {
  const streams = new Map<string, Stream>();
  const followers = new Map<string, Set<() => void>>();
  let closed = false;

  function assertOpen(): void {
    if (closed) throw new TeamError('storage', 'This journal is closed. Open a new one.');
  }

  function wake(team: string): void {
    for (const follower of followers.get(team) ?? []) follower();
  }

  function listen(team: string, follower: () => void): () => void {
    const set = followers.get(team) ?? new Set();
    followers.set(team, set.add(follower));
    return () => {
      set.delete(follower);
      if (set.size === 0 && followers.get(team) === set) followers.delete(team);
    };
  }

  return {
    async append(team, expected, events) {
      assertOpen();
      const stream = streams.get(team) ?? { batches: [] };
      if (stream.batches.length !== expected) {
        throw new TeamError(
          'journal_conflict',
          `Team ${JSON.stringify(team)} ends with batch ${stream.batches.length}, not ${expected}: read on and decide again.`,
        );
      }
      const seq = stream.batches.push(JSON.stringify(events));
      streams.set(team, stream);
      wake(team);
      return seq;
    },

    async restore(team, batches) {
      assertOpen();
      if (streams.has(team)) {
        throw new TeamError('journal_conflict', `There is a team ${JSON.stringify(team)} already.`);
      }
      streams.set(team, { batches: batches.map((events) => JSON.stringify(events)) });
      wake(team);
    },

    async *read(team, after) {
      assertOpen();
      const batches = streams.get(team)?.batches ?? [];
      const end = batches.length;
      for (let seq = start(after); seq <= end; seq++) {
        assertOpen();
        yield stored(batches, seq);
      }
    },

    async *follow(team, after, signal) {
      assertOpen();
      let resume = () => {};
      const onWake = () => resume();
      const stop = listen(team, onWake);
      signal.addEventListener('abort', onWake);
      try {
        let stream = streams.get(team);
        if (stream === undefined && after > 0) return;
        let next = start(after);
        while (!signal.aborted && !closed) {
          stream ??= streams.get(team);
          if (stream !== undefined && next <= stream.batches.length) yield stored(stream.batches, next++);
          else if (stream !== undefined && streams.get(team) !== stream) return;
          else await new Promise<void>((resolve) => (resume = resolve));
        }
      } finally {
        stop();
        signal.removeEventListener('abort', onWake);
      }
    },

    async loadSnapshot(team) {
      assertOpen();
      return streams.get(team)?.snapshot;
    },

    async saveSnapshot(team, { seq, body }) {
      assertOpen();
      const stream = streams.get(team);
      // A snapshot beyond the end belongs to a dropped team of the same name.
      if (stream === undefined || seq > stream.batches.length || seq < (stream.snapshot?.seq ?? 1)) return;
      stream.snapshot = { seq, body };
    },

    async teams() {
      assertOpen();
      return [...streams.keys()].sort();
    },

    async drop(team) {
      assertOpen();
      if (streams.delete(team)) wake(team);
    },

    async close() {
      closed = true;
      for (const team of followers.keys()) wake(team);
    },
  };
}

function start(after: Seq): Seq {
  return Math.max(0, after) + 1;
}

function stored(batches: readonly string[], seq: Seq): Stored {
  return { seq, events: JSON.parse(batches[seq - 1] as string) as TeamEvent[] };
}
