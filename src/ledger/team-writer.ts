import type { Command } from '../core/command.ts';
import { hasCode, TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import { takeSnapshot } from '../core/snapshot.ts';
import { keepChanges, takeBackTo } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { Journal, Seq, Stored } from '../journal/journal.ts';
import { CommandQueue } from './command-queue.ts';
import type { Refusal } from './command-queue.ts';
import { decideAll } from './decide-all.ts';
import { openState } from './open-state.ts';
import type { Opened } from './open-state.ts';
import type { LedgerOptions } from './options.ts';
import { SnapshotKeeper } from './snapshot-keeper.ts';
import { TeamCopy } from './team-copy.ts';
import { allSpoken } from './turns.ts';
import type { Turns } from './turns.ts';

/** Enough for every member of the largest team to have hundreds of commands waiting. */
const QUEUE_LIMIT = 10_000;

/**
 * How long, and how many, commits may follow each other before timers and sockets get their turn. A turn per commit is
 * too expensive: it costs 25 us after a flush, which leaves CPU caches cold; the flush itself takes 65 us. Reading the
 * clock would cost another 7 us, so the commands' own times are used. The count also works when the clock stands still.
 */
const STRETCH_MS = 2;
const STRETCH_COMMITS = 32;

/**
 * Callers that were answered together ask again within a few turns, each from its own process. A commit that waits this
 * many turns for them is shared by more. Eight clients with one claim in flight each get 9 % more done; a single one
 * never waits.
 */
const TURNS_FOR_COMPANY = 4;

/**
 * A caller in this process that continues at once has called again after this many microtasks. That is cheaper than
 * waiting until none is left; a slower caller gets a turn.
 */
const STEPS_TO_SPEAK = 4;
const NOW = Promise.resolve();

/** After this many lost races in a row something else is wrong. */
const ATTEMPTS = 1_000;

interface WriterOptions extends Omit<LedgerOptions, 'onError'> {
  readonly turns: Turns;
  /** Must not throw. */
  readonly onBatch: (batch: Stored, state: TeamState) => void;
  /** Must not throw. */
  readonly onError: (error: unknown) => void;
}

/**
 * Owns one team's state. It takes all waiting commands, decides each against the growing state, appends all events in
 * one commit, then answers all callers. Commands that arrive during a commit form the next one. If another process
 * appended first, it catches up and decides again. If the append fails, it rolls the state back.
 */
export class TeamWriter {
  readonly #journal: Journal;
  readonly #teamId: string;
  readonly #options: WriterOptions;
  readonly #copy: TeamCopy;
  readonly #snapshots: SnapshotKeeper;
  readonly #queue = new CommandQueue();
  #pumping: Promise<void> | undefined;
  /** Until when, and how many times, a commit need not wait for the end of a turn. */
  #stretchEnd = 0;
  #stretchLeft = 0;
  /** How many callers the last commit answered: as many may soon ask again. */
  #company = 0;
  /** Resolves when all queued work on the state is done; `#turnsLeft` counts what is left. */
  #turns: Promise<void> = Promise.resolve();
  #turnsLeft = 0;
  #listening = false;
  #watching: Promise<void> | undefined;
  readonly #stop = new AbortController();
  #closed = false;
  /** The team was used since the last call of `isAtRest`. */
  #used = true;

  private constructor(journal: Journal, teamId: string, options: WriterOptions, opened: Opened) {
    this.#journal = journal;
    this.#teamId = teamId;
    this.#options = options;
    this.#copy = new TeamCopy(journal, teamId, opened, {
      onBatch: (batch, state) => {
        this.#snapshots.count(batch.events.length);
        options.onBatch(batch, state);
      },
      onReopen: (replayed) => this.#snapshots.restart(replayed),
    });
    this.#snapshots = new SnapshotKeeper(opened.replayed, {
      every: options.snapshotEvery,
      size: () => this.#copy.state.tasks.size + this.#copy.state.messages.size,
      keep: () => this.#keepSnapshot(),
    });
  }

  static async open(journal: Journal, teamId: string, options: WriterOptions): Promise<TeamWriter> {
    return new TeamWriter(journal, teamId, options, await openState(journal, teamId));
  }

  /** The team has a batch. */
  get exists(): boolean {
    return this.#copy.seq > 0;
  }

  /** The team has no batch, and no command waits. */
  get isEmpty(): boolean {
    return !this.exists && this.#queue.length === 0;
  }

  /** The team is closed and nothing is in progress. */
  get canLeave(): boolean {
    return this.#copy.state.team?.closedAt !== undefined && !this.#pumping;
  }

  /** The writer can leave memory, and the team was not used since the last call of this method. */
  isAtRest(): boolean {
    const used = this.#used;
    this.#used = false;
    return !used && this.canLeave;
  }

  execute<R>(commands: readonly Command[], at: number, pick: (state: TeamState, events: TeamEvent[]) => R): Promise<R> {
    if (this.#closed) {
      return Promise.reject(
        new TeamError('storage', `The ledger is closed: team ${this.#teamId} takes no more commands`),
      );
    }
    if (this.#queue.length >= (this.#options.queueLimit ?? QUEUE_LIMIT)) {
      return Promise.reject(
        new TeamError(
          'overloaded',
          `Team ${this.#teamId} has ${this.#queue.length} commands waiting: try again in a moment`,
        ),
      );
    }
    this.#used = true;
    return new Promise<R>((resolve, reject) => {
      this.#queue.add({ at, commands, pick, resolve: resolve as (value: unknown) => void, reject });
      this.#pumping ??= this.#pump();
      this.#keepWatching();
    });
  }

  /** Reads the durable state, without changes that a running commit may still roll back. */
  view<R>(pick: (state: TeamState, seq: Seq) => R): Promise<R> {
    this.#used = true;
    this.#keepWatching();
    return this.#alone(async () => {
      if (!this.#options.exclusive && !this.#closed) await this.#copy.catchUp();
      return pick(this.#copy.state, this.#copy.seq);
    });
  }

  /** The same without asking the journal: other processes may have written since. */
  recall<R>(pick: (state: TeamState, seq: Seq) => R): Promise<R> {
    return this.#alone(async () => pick(this.#copy.state, this.#copy.seq));
  }

  /** Takes in batches of other processes as they come, until the writer closes. */
  watch(): void {
    this.#listening = true;
    this.#keepWatching();
  }

  async close({ snapshot }: { snapshot: boolean }): Promise<void> {
    this.#closed = true;
    this.#stop.abort();
    await this.#watching;
    await this.#pumping;
    await this.#snapshots.close({ snapshot });
  }

  /** Restarts watching with the next call, if an error ended it. */
  #keepWatching(): void {
    if (!this.#listening || this.#watching || this.#options.exclusive) return;
    this.#watching = this.#followOthers()
      .catch(this.#options.onError)
      .finally(() => (this.#watching = undefined));
  }

  async #followOthers(): Promise<void> {
    for (let state; state !== this.#copy.state && !this.#closed;) {
      state = this.#copy.state;
      for await (const batch of this.#journal.follow(this.#teamId, this.#copy.seq, this.#stop.signal)) {
        if (batch.seq > this.#copy.seq) await this.#alone(() => this.#copy.catchUp());
      }
      // The stream ended: the team was dropped. If it was created again, continue with its new state.
      this.#copy.doubt();
      if (!this.#closed) await this.#alone(() => this.#copy.catchUp());
    }
  }

  async #pump(): Promise<void> {
    // Commands that arrive in the same tick share a commit.
    await NOW;
    for (let first = this.#queue.first; first; first = this.#queue.first) {
      if (this.#stretchLeft === 0 || first.at >= this.#stretchEnd) {
        await this.#options.turns.end();
        for (let more = TURNS_FOR_COMPANY; more > 0 && this.#queue.length < this.#company; more--) {
          await this.#options.turns.end();
        }
        this.#stretchEnd = first.at + STRETCH_MS;
        this.#stretchLeft = STRETCH_COMMITS;
      }
      this.#stretchLeft--;
      const answered = await this.#alone(this.#commitNext);
      this.#company = answered;
      // If several callers were answered, several may ask again, and they share a commit.
      if (answered > 1) await allSpoken();
      else for (let step = 0; step < STEPS_TO_SPEAK && this.#queue.length === 0; step++) await NOW;
      // Outside callers arrive with turns, perhaps several in one. A caller that came alone does not wait for others.
      if (this.#queue.length === 0 && answered > 1) this.#stretchLeft = 0;
    }
    this.#pumping = undefined;
    this.#snapshots.plan();
  }

  /** Runs work on the state one at a time, in the order of calls. */
  #alone<R>(work: () => Promise<R>): Promise<R> {
    const turn = this.#turnsLeft === 0 ? work() : this.#turns.then(work);
    this.#turnsLeft++;
    // The caller gets the failure; the work queued behind it need not.
    this.#turns = turn.then(this.#turnOver, this.#turnOver);
    return turn;
  }

  readonly #turnOver = (): void => void this.#turnsLeft--;

  /** Never throws: each caller gets its own outcome. Returns the number of callers. */
  readonly #commitNext = async (): Promise<number> => {
    const batch = this.#queue.take();
    for (let attempt = 1; ; attempt++) {
      const events = decideAll(this.#copy.state, batch);
      try {
        if (events.length > 0) {
          const seq = await this.#journal.append(this.#teamId, this.#copy.seq, events);
          keepChanges(this.#copy.state);
          this.#copy.appended({ seq, events });
        } else if (attempt === 1 && !this.#options.exclusive) {
          // Without an append, nothing shows that another process was first. A refusal may rest on an old state.
          if (await this.#copy.catchUp()) continue;
        }
      } catch (error) {
        takeBackTo(this.#copy.state, 0);
        const failure = await this.#recover(error, attempt);
        if (!failure) continue;
        for (const { reject } of batch) reject(failure.error);
        return batch.length;
      }
      for (const { refusal, reject, resolve, value } of batch) {
        if (refusal) reject(refusal.error);
        else resolve(value);
      }
      return batch.length;
    }
  };

  /** After a lost race the batch is decided again. Any other failure is the answer to all its callers. */
  async #recover(error: unknown, attempt: number): Promise<Refusal | undefined> {
    if (!hasCode(error, 'journal_conflict')) return { error };
    if (attempt >= ATTEMPTS) {
      const message = `Other processes wrote to team ${this.#teamId} first, ${attempt} times: try again`;
      return { error: new TeamError('overloaded', message, { cause: error }) };
    }
    try {
      this.#copy.doubt();
      await this.#copy.catchUp();
      return undefined;
    } catch (failure) {
      return { error: failure };
    }
  }

  /** The state cannot change while the snapshot is taken; commits may continue while it is written. */
  async #keepSnapshot(): Promise<void> {
    try {
      const snapshot = await this.#alone(async () => {
        // The team may have been dropped and created again: a snapshot of the old one would be wrong.
        if (!this.#options.exclusive && !this.#closed) await this.#copy.catchUp();
        return { seq: this.#copy.seq, body: takeSnapshot(this.#copy.state) };
      });
      await this.#journal.saveSnapshot(this.#teamId, snapshot);
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
