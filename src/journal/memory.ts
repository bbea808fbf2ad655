import { TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import { conflict } from './conflict.ts';
import type { Journal, Seq, Snapshot, Stored } from './journal.ts';
import { openListeners } from './listeners.ts';

interface Stream {
  /** Batches as JSON text: readers get what a disk would give, and cannot change what is stored. */
  readonly batches: string[];
  snapshot?: Snapshot;
}

/** A journal that lasts as long as its process. Several ledgers may share one. */
export function memoryJournal(): Journal {
  const streams = new Map<string, Stream>();
  const followers = openListeners();
  let closed = false;

  function assertOpen(): void {
    if (closed) throw new TeamError('storage', 'This journal is closed. Open a new one.');
  }

  return {
    async append(team, expected, events) {
      assertOpen();
      const stream = streams.get(team) ?? { batches: [] };
      if (stream.batches.length !== expected) throw conflict(team, expected);
      const seq = stream.batches.push(JSON.stringify(events));
      streams.set(team, stream);
      followers.wake(team);
      return seq;
    },

    async restore(team, batches) {
      assertOpen();
      if (streams.has(team)) throw conflict(team, 0);
      streams.set(team, { batches: batches.map((events) => JSON.stringify(events)) });
      followers.wake(team);
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
      const stop = followers.listen(team, onWake);
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
      if (streams.delete(team)) followers.wake(team);
    },

    async close() {
      closed = true;
      followers.wakeAll();
    },
  };
}

function start(after: Seq): Seq {
  return Math.max(0, after) + 1;
}

function stored(batches: readonly string[], seq: Seq): Stored {
  return { seq, events: JSON.parse(batches[seq - 1] as string) as TeamEvent[] };
}
