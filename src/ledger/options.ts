import type { TeamEvent } from '../core/event.ts';
import type { TeamState } from '../core/state.ts';

/** Makes a caller's result from the state right after its command and from the command's events. */
export type Picker<R> = (state: TeamState, events: TeamEvent[]) => R;

/** Options of a ledger. The defaults suit a daemon's journal that other processes may also open. */
export interface LedgerOptions {
  /** No other process writes to the journal, so the state in memory is never behind it. */
  readonly exclusive?: boolean;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Commands that may wait per team; more are refused with `overloaded`. */
  readonly queueLimit?: number;
  /** Events after which a snapshot is worth its cost. */
  readonly snapshotEvery?: number;
  /** A closed team leaves memory when it was unused for this long; the check makes that up to twice as long. */
  readonly idleMs?: number;
  /** With more teams in memory than this, closed ones leave at once. */
  readonly openTeams?: number;
  /** Wraps the `pick` of a command, for tracing. */
  readonly around?: <R>(pick: Picker<R>) => Picker<R>;
  /** Gets errors that no caller waits for: a snapshot that could not be saved, a listener that threw. */
  readonly onError?: (error: unknown, teamId: string) => void;
}
