import type { TeamEvent } from '../core/event.ts';

/** The number of a batch in its team's stream; 0 is before the first. */
export type Seq = number;

/** One stored batch: the events of one commit, in order. */
export interface Stored {
  readonly seq: Seq;
  readonly events: readonly TeamEvent[];
}

/** A team's state at `seq`, as text that only the core can parse. */
export interface Snapshot {
  readonly seq: Seq;
  readonly body: string;
}

/**
 * Stores the truth of every team: one stream of batches per team, numbered 1, 2, 3 ... without a gap.
 *
 * Every refusal is a `TeamError`:
 * - `journal_conflict`: another writer was first;
 * - `storage`: the disk or server refused, and nothing was written;
 * - `corrupt`: stored bytes cannot be read;
 * - `unsupported`: a newer version wrote them.
 *
 * A failed read never looks like an empty one. Trouble with one team does not affect others. Only if the affected team
 * is unknown (a damaged file), nothing is written for any team.
 */
export interface Journal {
  /**
   * Appends one batch, whole or not at all, if the team's last batch is `expected`. Resolves with the batch's number
   * once it is durable. `expected` 0 starts a team. Any other `expected` than the current end is a `journal_conflict`.
   */
  append(team: string, expected: Seq, events: readonly TeamEvent[]): Promise<Seq>;

  /**
   * Adds a whole team at once, or nothing: also a kill in between leaves nothing. Resolves when it is durable. A team of
   * that name is a `journal_conflict`. Absent if the journal cannot do that.
   */
  restore?(team: string, batches: readonly (readonly TeamEvent[])[]): Promise<void>;

  /** The batches after `after` that exist now, in order; none for a team that does not exist. */
  read(team: string, after: Seq): AsyncIterable<Stored>;

  /**
   * The batches after `after`, then new ones of any process: in order, no gap, no repeat. Ends without an error when
   * `signal` aborts, the team is dropped, or the journal closes.
   */
  follow(team: string, after: Seq, signal: AbortSignal): AsyncIterable<Stored>;

  /** The newest snapshot, or undefined if there is no trustworthy one: the batches are the truth. */
  loadSnapshot(team: string): Promise<Snapshot | undefined>;

  /** Saves a snapshot in place of older ones. Does nothing for a dropped team. */
  saveSnapshot(team: string, snapshot: Snapshot): Promise<void>;

  /** The names of all teams, sorted. */
  teams(): Promise<string[]>;

  /** Removes a team with all its batches and snapshots. Does nothing for a team that does not exist. */
  drop(team: string): Promise<void>;

  /** Lets running appends finish, then releases every resource. Later calls fail with `storage`. */
  close(): Promise<void>;
}
