import { keepChanges, noteChanges, takeBackTo } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { Journal, Seq, Stored } from '../journal/journal.ts';
import { applyBatch, openState } from './open-state.ts';
import type { Opened } from './open-state.ts';

/**
 * A batch of more events is compared with the journal's only when something came, and else now and then: reading 500 events
 * back takes a millisecond, where reading that nothing came takes 8 us.
 */
const SMALL_BATCH = 16;
const COMPARE_EVERY_MS = 20;

/** Hears how the copy changes. Must not throw. */
interface CopyOptions {
  /** A batch was taken in. */
  readonly onBatch: (batch: Stored, state: TeamState) => void;
  /** Another team has the name: its state took the place of the old one, after so many events. */
  readonly onReopen: (replayed: number) => void;
}

/** A team's state in memory, and the way to keep it in step with a journal that others write to as well. */
export class TeamCopy {
  readonly #journal: Journal;
  readonly #teamId: string;
  readonly #options: CopyOptions;
  #state: TeamState;
  /** The batch that the state ends with. */
  #last: Stored | undefined;
  /** When the journal was last seen to hold that batch. */
  #comparedAt = -Infinity;

  constructor(journal: Journal, teamId: string, opened: Opened, options: CopyOptions) {
    this.#journal = journal;
    this.#teamId = teamId;
    this.#options = options;
    this.#state = opened.state;
    this.#last = opened.last;
  }

  get state(): TeamState {
    return this.#state;
  }

  get seq(): Seq {
    return this.#last?.seq ?? 0;
  }

  /** The state includes a batch that was appended from here. */
  appended(batch: Stored): void {
    this.#last = batch;
    this.#options.onBatch(batch, this.#state);
  }

  /** Something shows that the journal may not be what it was: the next look looks closely. */
  doubt(): void {
    this.#comparedAt = -Infinity;
  }

  /** Takes in what others appended; whether there was anything. */
  async catchUp(): Promise<boolean> {
    const last = this.#last;
    if (last && !(await this.#mayHaveMoved(last))) return false;
    this.#comparedAt = performance.now();
    let isSameStream = last === undefined;
    for await (const batch of this.#journal.read(this.#teamId, Math.max(0, this.seq - 1))) {
      if (isSameStream) this.#takeIn(batch);
      else if (last && isSameBatch(batch, last)) isSameStream = true;
      else break;
    }
    // The team was dropped under us, and perhaps made anew.
    if (!isSameStream) await this.#reopen();
    return this.#last !== last;
  }

  /** Whether there is more than the batch that the state ends with, or that batch may be of a team that is gone. */
  async #mayHaveMoved({ seq, events }: Stored): Promise<boolean> {
    if (events.length <= SMALL_BATCH || performance.now() - this.#comparedAt > COMPARE_EVERY_MS) return true;
    for await (const batch of this.#journal.read(this.#teamId, seq)) return batch.seq > seq;
    return false;
  }

  /** All of a batch or nothing of it. */
  #takeIn(batch: Stored): void {
    noteChanges(this.#state);
    try {
      applyBatch(this.#state, batch);
    } catch (error) {
      takeBackTo(this.#state, 0);
      throw error;
    } finally {
      keepChanges(this.#state);
    }
    this.appended(batch);
  }

  async #reopen(): Promise<void> {
    const { state, last, replayed } = await openState(this.#journal, this.#teamId);
    this.#state = state;
    this.#last = last;
    this.#options.onReopen(replayed);
  }
}

/** Streams of different teams differ in their batches; of a large one its ends, with their times and ids, tell enough. */
function isSameBatch(a: Stored, b: Stored): boolean {
  if (a.seq !== b.seq || a.events.length !== b.events.length) return false;
  const ends = ({ events }: Stored): unknown => (events.length <= SMALL_BATCH ? events : [events[0], events.at(-1)]);
  return JSON.stringify(ends(a)) === JSON.stringify(ends(b));
}
