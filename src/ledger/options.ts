import type { TeamEvent } from '../core/event.ts';
import type { TeamState } from '../core/state.ts';

/** What a caller makes of the state right after its command, and of what followed from it. */
export type Picker<R> = (state: TeamState, events: TeamEvent[]) => R;

/** How a ledger works; the defaults are right for a daemon's journal that other processes may also open. */
export interface LedgerOptions {
  /** No other process writes to the journal, so the state in memory is never behind it. */
  readonly exclusive?: boolean;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Commands that may wait per team; more are refused with `overloaded`. */
  readonly queueLimit?: number;
  /** Events after which a snapshot is worth its cost. */
  readonly snapshotEvery?: number;
  /** How long nobody may have asked for a closed team before it leaves the memory: between once and twice so long. */
  readonly idleMs?: number;
  /** With more teams in memory than this, closed ones leave at once. */
  readonly openTeams?: number;
  /** Stands between a command and its `pick`, for those who trace what follows from what. */
  readonly around?: <R>(pick: Picker<R>) => Picker<R>;
  /** Hears trouble that no caller waits for: a snapshot that could not be kept, a listener that threw. */
  readonly onError?: (error: unknown, teamId: string) => void;
}
