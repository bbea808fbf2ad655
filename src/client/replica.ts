import type { Command } from '../core/command.ts';
import { decide } from '../core/decide.ts';
import { TeamError } from '../core/errors.ts';
import { evolve } from '../core/evolve.ts';
import { changeMark, createState, noteChanges, takeBackTo } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { EventsFrame } from '../operations/frames.ts';

// What the faces of a person show is worked out from a team's state as the daemon does it, also in a browser.
export { budgetUses } from '../core/budget-use.ts';
export { wordEvent } from '../core/event-words.ts';
export { hookTroubles } from '../core/hook-trouble.ts';
export { isBlocked } from '../core/obstacles.ts';
export { isEmptySeat, isPerson } from '../core/seat.ts';
export { teamUsage, viewMember, viewTask } from '../core/view.ts';
export { isLost, waitingOf } from '../core/waiting.ts';
export { addUsage, NO_USAGE } from '../core/usage.ts';
export { waitsSince, workedOn, workIn } from '../core/work-time.ts';
export type { TeamState };

/** The events of one commit, as a subscription brings them. */
export type Batch = Pick<EventsFrame, 'seq' | 'events'>;

/** Why a team would refuse a command as it stands, in the words of its rules; undefined where it would not. */
export function whyNot(state: TeamState, command: Command): string | undefined {
  try {
    decide(state, command);
    return undefined;
  } catch (error) {
    if (error instanceof TeamError) return error.message;
    throw error;
  }
}

/**
 * A copy of a team, kept by its events, and the team as it was at any moment before. A batch that is there already is
 * left out; one that comes too early is refused, as the copy would no longer be true.
 */
export class Replica {
  readonly live: TeamState;
  readonly #batches: Batch[] = [];
  readonly #past: TeamState;
  /** How much there was to take back after each batch of the past state. */
  readonly #marks: number[] = [];

  constructor(teamId: string) {
    this.live = createState(teamId);
    this.#past = createState(teamId);
    noteChanges(this.#past);
  }

  /** Everything that happened, from the first batch on. */
  get batches(): readonly Batch[] {
    return this.#batches;
  }

  /** The number of the last batch. */
  get seq(): number {
    return this.#batches.length;
  }

  /** Applies the next batch; says whether it was new. */
  apply(batch: Batch): boolean {
    if (batch.seq <= this.seq) return false;
    if (batch.seq > this.seq + 1) {
      throw new Error(`Team ${this.live.teamId}: batch ${batch.seq} came where ${this.seq + 1} was due`);
    }
    for (const event of batch.events) evolve(this.live, event);
    this.#batches.push(batch);
    return true;
  }

  /**
   * The team as it was right after a batch; 0 is before the first. One state is moved back and forth, by as many steps
   * as lie between, so it is good until the next call.
   */
  at(seq: number): TeamState {
    const wanted = Math.max(0, Math.min(seq, this.seq));
    if (wanted < this.#marks.length) {
      takeBackTo(this.#past, this.#marks[wanted] as number);
      this.#marks.length = wanted;
    }
    while (this.#marks.length < wanted) {
      this.#marks.push(changeMark(this.#past));
      for (const event of this.#batches[this.#marks.length - 1]?.events ?? []) evolve(this.#past, event);
    }
    return this.#past;
  }
}
