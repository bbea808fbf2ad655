import type { Command } from '../core/command.ts';
import { decide } from '../core/decide.ts';
import { TeamError } from '../core/errors.ts';
import { evolve } from '../core/evolve.ts';
import { changeMark, createState, noteChanges, takeBackTo } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { EventsFrame } from '../operations/frames.ts';

// The command line and the dashboard compute what they show from a team's state with the daemon's own code.
export { otherTeamOf } from '../core/address.ts';
export { agentNamed, hasProcess, isTeamAgent } from '../core/agent-kinds.ts';
export { agentNameOf, wordOnLimit, wordSettings } from '../core/agent-words.ts';
export { budgetUses } from '../core/budget-use.ts';
export { showGrant } from '../core/budget-words.ts';
export { nounOf } from '../core/event.ts';
export { wordEvent } from '../core/event-words.ts';
export { rowOf, taskLetGo } from '../core/events/table.ts';
export { hookTroubles } from '../core/hook-trouble.ts';
export { whyBlocked } from '../core/blocked.ts';
export { filesInTheWay } from '../core/in-the-way.ts';
export { wordLease } from '../core/lease.ts';
export { isBlocked } from '../core/obstacles.ts';
export { parentsOf, pathTo, withInner } from '../core/inner-path.ts';
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
export { openSnapshot, takeSnapshot } from '../core/snapshot.ts';
export { wordGate } from '../core/request-words.ts';
export { situationOf } from '../core/situation.ts';
export { isPerson, isVacant } from '../core/person.ts';
export { sameSince, teamUsage, viewMember, viewTask } from '../core/view.ts';
export { isLost, silentSince, waitingOf, waitsOrSilent } from '../core/waiting.ts';
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

/** Where a copy begins, if not before the first batch. */
export interface Beginning {
  /** The state after this batch. It becomes the copy's own. */
  readonly state: TeamState;
  readonly seq: number;
  /** The first batch that `apply` gets is the one after this. Older ones come by `addOlder`. */
  readonly after: number;
}

/**
 * A copy of a team that its events keep up to date, and the team at any earlier moment. A batch seen before is ignored.
 * A batch after a gap throws, because the copy would be wrong. A copy that begins with a snapshot knows the present at
 * once, and earlier moments when it has all older batches.
 */
export class Replica {
  readonly live: TeamState;
  /** From the first batch on, without a gap. */
  readonly #batches: Batch[] = [];
  /** The newest batches, until the older ones reach them. */
  #newest: Batch[] | undefined;
  /** The number of the batch before the newest ones. */
  readonly #after: number;
  /** The number of the last batch that the live state has. */
  #seq: number;
  readonly #past: TeamState;
  /** The undo position of the past state before each batch. */
  readonly #marks: number[] = [];

  constructor(teamId: string, { state, seq, after }: Partial<Beginning> = {}) {
    this.live = state ?? createState(teamId);
    this.#seq = seq ?? 0;
    this.#after = after ?? 0;
    if (this.#after > 0) this.#newest = [];
    this.#past = createState(teamId);
    noteChanges(this.#past);
  }

  /** Everything that happened, from the first batch on; as far as the older ones are here. */
  get batches(): readonly Batch[] {
    return this.#batches;
  }

  /** Everything that happened; while older batches are missing, only the newest. */
  get recent(): readonly Batch[] {
    const newest = this.#newest ?? this.#batches;
    return newest.at(-1)?.seq === this.#seq ? newest : NONE;
  }

  /** Whether all batches are here. */
  get isWhole(): boolean {
    return this.#newest === undefined && this.#batches.length === this.#seq;
  }

  /** The number of the last batch. */
  get seq(): number {
    return this.#seq;
  }

  /** Applies the next batch; returns whether it was new. */
  apply(batch: Batch): boolean {
    const list = this.#newest ?? this.#batches;
    const last = list.at(-1)?.seq ?? (this.#newest ? this.#after : 0);
    if (batch.seq <= last) return false;
    if (batch.seq > last + 1) throw this.#gap(last, batch);
    if (batch.seq > this.#seq) {
      for (const event of batch.events) evolve(this.live, event);
      this.#seq = batch.seq;
    }
    list.push(batch);
    return true;
  }

  /** Adds a batch from before the newest ones, the oldest first; returns whether it was new. */
  addOlder(batch: Batch): boolean {
    const last = this.#batches.length;
    if (batch.seq <= last || !this.#newest) return false;
    if (batch.seq > last + 1) throw this.#gap(last, batch);
    this.#batches.push(batch);
    if (batch.seq < this.#after) return true;
    for (const newer of this.#newest) this.#batches.push(newer);
    this.#newest = undefined;
    return true;
  }

  /**
   * The team right after a batch; 0 is before the first. One state object moves back and forth batch by batch, so the
   * result is valid until the next call.
   */
  at(seq: number): TeamState {
    this.moveTo(seq, () => true);
    return this.#past;
  }

  /** Moves towards that state as long as it may; returns whether it is there. */
  moveTo(seq: number, mayGoOn: () => boolean): boolean {
    const wanted = Math.max(0, Math.min(seq, this.#batches.length));
    if (wanted < this.#marks.length) {
      takeBackTo(this.#past, this.#marks[wanted] as number);
      this.#marks.length = wanted;
    }
    while (this.#marks.length < wanted) {
      if (this.#marks.length % LOOK_EVERY === 0 && !mayGoOn()) return false;
      this.#marks.push(changeMark(this.#past));
      for (const event of this.#batches[this.#marks.length - 1]?.events ?? []) evolve(this.#past, event);
    }
    return true;
  }

  #gap(last: number, batch: Batch): Error {
    return new Error(`Team ${this.live.teamId}: expected batch ${last + 1}, got ${batch.seq}: subscribe again`);
  }
}

const NONE: readonly Batch[] = [];

/** How many batches are applied between two looks at the clock. */
const LOOK_EVERY = 16;
