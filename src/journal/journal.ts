import type { TeamEvent } from '../core/event.ts';

/** The number of a batch in its team's stream; 0 is before the first. */
export type Seq = number;

/** One batch as the journal holds it: what one commit appended, in order. */
export interface Stored {
  readonly seq: Seq;
  readonly events: readonly TeamEvent[];
}

/** A team's state at `seq`, as text that only the core can read. */
export interface Snapshot {
  readonly seq: Seq;
  readonly body: string;
}

/**
 * Where a team's truth is: one stream of batches per team, numbered 1, 2, 3 ... without a gap.
 *
 * Every refusal is a `TeamError`: `journal_conflict` if someone else was first, `storage` if the disk or server
 * refused (then nothing was written), `corrupt` if stored bytes cannot be read, `unsupported` if a newer version wrote
 * them. A failed read is never an empty one. Trouble with one team does not touch another; only where nobody can tell whose
 * trouble it is (a damaged file) nothing is written for any.
 */
export interface Journal {
  /**
   * Appends one batch if the team's last batch is `expected`, all of it or nothing, and resolves with its number once it
   * is durable. `expected` 0 starts a team. Anything but the present end is a `journal_conflict`.
   */
  append(team: string, expected: Seq, events: readonly TeamEvent[]): Promise<Seq>;

  /** The batches after `after` that are there now, in order; none for a team that does not exist. */
  read(team: string, after: Seq): AsyncIterable<Stored>;

  /**
   * What is there after `after`, then what comes, from any process: in order, no gap, no repeat. Ends quietly when
   * `signal` aborts, when the team is dropped, or when the journal closes.
   */
  follow(team: string, after: Seq, signal: AbortSignal): AsyncIterable<Stored>;

  /** The newest snapshot, or undefined when there is none that can be trusted: the batches are the truth. */
  loadSnapshot(team: string): Promise<Snapshot | undefined>;

  /** Keeps a snapshot in place of older ones. Does nothing for a team that is gone. */
  saveSnapshot(team: string, snapshot: Snapshot): Promise<void>;

  /** The names of all teams, sorted. */
  teams(): Promise<string[]>;

  /** Removes a team with all its batches and snapshots. Does nothing for a team that does not exist. */
  drop(team: string): Promise<void>;

  /** Lets what was appended finish, then releases every resource. Calls after it fail with `storage`. */
  close(): Promise<void>;
}
