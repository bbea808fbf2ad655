import type { Command } from '../core/command.ts';
import { decide } from '../core/decide.ts';
import { TeamError } from '../core/errors.ts';
import { evolve } from '../core/evolve.ts';
import { changeMark, createState, noteChanges, takeBackTo } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { EventsFrame } from '../operations/frames.ts';

// The command line and the dashboard compute what they show from a team's state with the daemon's own code.
export { budgetUses } from '../core/budget-use.ts';
export { showGrant } from '../core/budget-words.ts';
export { nounOf } from '../core/event.ts';
export { wordEvent } from '../core/event-words.ts';
export { rowOf, taskRowOf } from '../core/events/table.ts';
export { hookTroubles } from '../core/hook-trouble.ts';
export { whyBlocked } from '../core/blocked.ts';
export { filesInTheWay } from '../core/in-the-way.ts';
export { wordLease } from '../core/lease.ts';
export { isBlocked } from '../core/obstacles.ts';
export { countMembers, isCounted } from '../core/member-count.ts';
export { overlapRows } from '../core/overlap-view.ts';
export {
  approverNow,
  isLanding,
  placeOf,
  viewQueue,
  waitsToLand,
  wordApprover,
  wordLanding,
} from '../core/queue-view.ts';
export { situationOf } from '../core/situation.ts';
export { agentNameOf, wordOnLimit } from '../core/on-limit.ts';
export { isPerson, isVacant } from '../core/person.ts';
export { teamUsage, viewMember, viewTask } from '../core/view.ts';
export { isLost, waitingOf } from '../core/waiting.ts';
export { addUsage, NO_USAGE } from '../core/usage.ts';
export { waitsSince, workedOn, workIn } from '../core/work-time.ts';
export type { TeamState };

/** The events of one commit, as a subscription brings them. */
export type Batch = Pick<EventsFrame, 'seq' | 'events'>;

/** Why the team in this state would refuse a command, in the words of its rules; undefined if it would accept it. */
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
 * A copy of a team that its events keep up to date, and the team at any earlier moment. A batch seen before is ignored.
 * A batch after a gap throws, because the copy would be wrong.
 */
export class Replica {
  readonly live: TeamState;
  readonly #batches: Batch[] = [];
  readonly #past: TeamState;
  /** The undo position of the past state before each batch. */
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

  /** Applies the next batch; returns whether it was new. */
  apply(batch: Batch): boolean {
    if (batch.seq <= this.seq) return false;
    if (batch.seq > this.seq + 1) {
      throw new Error(`Team ${this.live.teamId}: expected batch ${this.seq + 1}, got ${batch.seq}: subscribe again`);
    }
    for (const event of batch.events) evolve(this.live, event);
    this.#batches.push(batch);
    return true;
  }

  /**
   * The team right after a batch; 0 is before the first. One state object moves back and forth batch by batch, so the
   * result is valid until the next call.
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
