import type { Command } from '../core/command.ts';
import { decide } from '../core/decide.ts';
import { TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import { evolve } from '../core/evolve.ts';
import { takeSnapshot } from '../core/snapshot.ts';
import { changeMark, keepChanges, noteChanges, takeBackTo } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { Journal, Seq, Stored } from '../journal/journal.ts';
import { applyBatch, openState } from './open-state.ts';
import type { Opened } from './open-state.ts';
import type { LedgerOptions } from './options.ts';
import { SnapshotKeeper } from './snapshot-keeper.ts';
import { allSpoken } from './turns.ts';
import type { Turns } from './turns.ts';

/** Above 512 commands a commit gets longer, not cheaper per command. */
const COMMANDS_PER_COMMIT = 512;

/** Characters of text in one commit: a batch must fit one message of a journal on the network. */
const TEXT_PER_COMMIT = 256 * 1024;

/** Enough for every member of the largest team to have hundreds of commands waiting. */
const QUEUE_LIMIT = 10_000;

/**
 * How long commits may follow each other before timers and sockets get their turn, and how many. A turn for each would be
 * a waste: it costs 25 us after a flush, which leaves the processor's caches cold, where the flush itself takes 65. Asking
 * for the time would cost another 7, so the commands' own times are looked at; a clock that stands still is no way out.
 */
const STRETCH_MS = 2;
const STRETCH_COMMITS = 32;

/**
 * A caller in this process that goes on at once has asked again after so many steps. That is cheaper than waiting until
 * nothing is left to run; one that takes longer gets a turn.
 */
const STEPS_TO_SPEAK = 4;
const NOW = Promise.resolve();

/** With so many lost races in a row something else is wrong. */
const ATTEMPTS = 1_000;

/**
 * A batch of more events is compared with the journal's only when something came, and else now and then: reading 500 events
 * back takes a millisecond, where reading that nothing came takes 8 us.
 */
const SMALL_BATCH = 16;
const COMPARE_EVERY_MS = 20;

interface Waiting {
  /** When it was asked for. */
  readonly at: number;
  readonly commands: readonly Command[];
  readonly pick: (state: TeamState, events: TeamEvent[]) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  /** The answer, given once it is durable. */
  value?: unknown;
  error?: Error | undefined;
}

interface ActorOptions extends LedgerOptions {
  readonly turns: Turns;
  /** Must not throw. */
  readonly onBatch: (batch: Stored, state: TeamState) => void;
}

/**
 * Owns one team's state. Takes everything that waits, decides each command against the growing state, appends all events
 * in one commit, then answers all callers: what waits while one commit runs forms the next. When another process was
 * first, it catches up and decides again; when the append fails, the state is put back as it was.
 */
export class TeamActor {
  readonly #journal: Journal;
  readonly #teamId: string;
  readonly #options: ActorOptions;
  #state: TeamState;
  /** The batch that the state ends with. */
  #last: Stored | undefined;
  readonly #snapshots: SnapshotKeeper;
  #queue: Waiting[] = [];
  #pumping: Promise<void> | undefined;
  /** Until when, and how many times, a commit need not wait for the end of a turn. */
  #stretchEnd = 0;
  #stretchLeft = 0;
  /** Ends when everything that was to touch the state has done so; how much of that there is. */
  #turns: Promise<void> = Promise.resolve();
  #turnsLeft = 0;
  /** When the journal was last seen to hold the batch that the state ends with. */
  #comparedAt = -Infinity;
  #listening = false;
  #watching: Promise<void> | undefined;
  readonly #stop = new AbortController();
  #closed = false;
  /** Somebody asked since `isAtRest` was last asked. */
  #used = true;

  private constructor(journal: Journal, teamId: string, options: ActorOptions, opened: Opened) {
    this.#journal = journal;
    this.#teamId = teamId;
    this.#options = options;
    this.#state = opened.state;
    this.#last = opened.last;
    this.#snapshots = new SnapshotKeeper(opened.replayed, {
      every: options.snapshotEvery,
      size: () => this.#state.tasks.size + this.#state.messages.size,
      keep: () => this.#keepSnapshot(),
    });
  }

  static async open(journal: Journal, teamId: string, options: ActorOptions): Promise<TeamActor> {
    return new TeamActor(journal, teamId, options, await openState(journal, teamId));
  }

  /** Something is stored. */
  get exists(): boolean {
    return this.#seq > 0;
  }

  /** Nothing is stored and nothing waits. */
  get isEmpty(): boolean {
    return !this.exists && this.#queue.length === 0;
  }

  /** The team is closed and nothing is under way. */
  get canLeave(): boolean {
    return this.#state.team?.closedAt !== undefined && this.#queue.length === 0 && !this.#pumping;
  }

  /** It can leave, and nobody has asked for it since this was asked last. */
  isAtRest(): boolean {
    const used = this.#used;
    this.#used = false;
    return !used && this.canLeave;
  }

  get #seq(): Seq {
    return this.#last?.seq ?? 0;
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
      this.#queue.push({ at, commands, pick, resolve: resolve as (value: unknown) => void, reject });
      this.#pumping ??= this.#pump();
      this.#keepWatching();
    });
  }

  /** What is durable, and nothing that a commit under way may yet take back. */
  view<R>(pick: (state: TeamState, seq: Seq) => R): Promise<R> {
    this.#used = true;
    this.#keepWatching();
    return this.#alone(async () => {
      if (!this.#options.exclusive && !this.#closed) await this.#catchUp();
      return pick(this.#state, this.#seq);
    });
  }

  /** Takes in what other processes append as it comes, until the actor closes. */
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

  /** Trouble may have ended it; then the next call begins again. */
  #keepWatching(): void {
    if (!this.#listening || this.#watching || this.#options.exclusive || this.#closed) return;
    this.#watching = this.#followOthers()
      .catch((error: unknown) => this.#options.onError?.(error, this.#teamId))
      .finally(() => (this.#watching = undefined));
  }

  async #followOthers(): Promise<void> {
    for (let state; state !== this.#state && !this.#closed;) {
      state = this.#state;
      for await (const batch of this.#journal.follow(this.#teamId, this.#seq, this.#stop.signal)) {
        if (batch.seq > this.#seq) await this.#alone(() => this.#catchUp());
      }
      // The stream ended under us: the team was dropped, and perhaps made anew, which gives another state to go on with.
      this.#comparedAt = -Infinity;
      if (!this.#closed) await this.#alone(() => this.#catchUp());
    }
  }

  async #pump(): Promise<void> {
    // What is asked for in one breath goes together.
    await NOW;
    for (let first = this.#queue[0]; first; first = this.#queue[0]) {
      if (this.#stretchLeft === 0 || first.at >= this.#stretchEnd) {
        await this.#options.turns.end();
        this.#stretchEnd = first.at + STRETCH_MS;
        this.#stretchLeft = STRETCH_COMMITS;
      }
      this.#stretchLeft--;
      const answered = await this.#alone(this.#commitNext);
      // Where several were answered, several may speak, and they go together.
      if (answered > 1) await allSpoken();
      else for (let step = 0; step < STEPS_TO_SPEAK && this.#queue.length === 0; step++) await NOW;
      // Who comes from outside comes in turns, and perhaps with others.
      if (this.#queue.length === 0) this.#stretchLeft = 0;
    }
    this.#pumping = undefined;
    this.#snapshots.plan();
  }

  /** One thing at a time touches the state, in the order of asking. */
  #alone<R>(work: () => Promise<R>): Promise<R> {
    const turn = this.#turnsLeft === 0 ? work() : this.#turns.then(work);
    this.#turnsLeft++;
    // A failure is told to those it concerns; those who only wait their turn need not hear it.
    this.#turns = turn.then(this.#turnOver, this.#turnOver);
    return turn;
  }

  readonly #turnOver = (): void => void this.#turnsLeft--;

  #take(): Waiting[] {
    const queue = this.#queue;
    let text = 0;
    let count = Math.min(queue.length, 1);
    while (count < Math.min(queue.length, COMMANDS_PER_COMMIT) && text < TEXT_PER_COMMIT) {
      for (const command of (queue[count - 1] as Waiting).commands) text += textIn(command);
      if (text < TEXT_PER_COMMIT) count++;
    }
    if (count < queue.length) return queue.splice(0, count);
    this.#queue = [];
    return queue;
  }

  /** Never throws: every outcome goes to the caller it belongs to. Returns how many there were. */
  readonly #commitNext = async (): Promise<number> => {
    const batch = this.#take();
    let isCurrent = this.#options.exclusive === true;
    for (let attempt = 1; ; attempt++) {
      const events = this.#decideAll(batch);
      try {
        if (events.length > 0) {
          const seq = await this.#journal.append(this.#teamId, this.#seq, events);
          keepChanges(this.#state);
          this.#took({ seq, events });
        } else if (!isCurrent) {
          // Where nothing is appended nothing tells that another process was first: a refusal may rest on an old state.
          keepChanges(this.#state);
          isCurrent = true;
          if (await this.#catchUp()) continue;
        }
      } catch (error) {
        takeBackTo(this.#state, 0);
        keepChanges(this.#state);
        const failure = await this.#recover(error, attempt);
        isCurrent = true;
        if (!failure) continue;
        for (const { reject } of batch) reject(failure);
        return batch.length;
      }
      for (const { error, reject, resolve, value } of batch) {
        if (error) reject(error);
        else resolve(value);
      }
      return batch.length;
    }
  };

  #decideAll(batch: Waiting[]): TeamEvent[] {
    noteChanges(this.#state);
    const events: TeamEvent[] = [];
    for (const waiting of batch) {
      const mark = changeMark(this.#state);
      const before = events.length;
      waiting.error = undefined;
      try {
        for (const command of waiting.commands) this.#decide(command, events);
        waiting.value = waiting.pick(this.#state, events.slice(before));
      } catch (error) {
        takeBackTo(this.#state, mark);
        events.length = before;
        waiting.error = asError(error);
      }
    }
    return events;
  }

  #decide(command: Command, events: TeamEvent[]): void {
    for (const event of decide(this.#state, command)) {
      evolve(this.#state, event);
      events.push(event);
    }
  }

  /** After a lost race the batch is decided again; any other failure is the answer to all who were in it. */
  async #recover(error: unknown, attempt: number): Promise<Error | undefined> {
    if (!(error instanceof TeamError) || error.code !== 'journal_conflict') return asError(error);
    if (attempt >= ATTEMPTS) {
      const message = `Team ${this.#teamId} lost ${attempt} races for the journal: try again`;
      return new TeamError('overloaded', message, { cause: error });
    }
    try {
      this.#comparedAt = -Infinity;
      await this.#catchUp();
      return undefined;
    } catch (failure) {
      return asError(failure);
    }
  }

  /** Takes in what others appended; whether there was anything. */
  async #catchUp(): Promise<boolean> {
    const last = this.#last;
    if (last && !(await this.#mayHaveMoved(last))) return false;
    this.#comparedAt = performance.now();
    let isSameStream = last === undefined;
    for await (const batch of this.#journal.read(this.#teamId, Math.max(0, this.#seq - 1))) {
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
    this.#took(batch);
  }

  async #reopen(): Promise<void> {
    const { state, last, replayed } = await openState(this.#journal, this.#teamId);
    this.#state = state;
    this.#last = last;
    this.#snapshots.restart(replayed);
  }

  #took(batch: Stored): void {
    this.#last = batch;
    this.#snapshots.count(batch.events.length);
    this.#options.onBatch(batch, this.#state);
  }

  /** The state cannot change while it is taken; commits may go on while it is written. */
  async #keepSnapshot(): Promise<void> {
    try {
      const snapshot = await this.#alone(async () => {
        // The team may have been dropped, and made anew, since the last look: a snapshot of the old one would be wrong.
        if (!this.#options.exclusive && !this.#closed) await this.#catchUp();
        return { seq: this.#seq, body: takeSnapshot(this.#state) };
      });
      await this.#journal.saveSnapshot(this.#teamId, snapshot);
    } catch (error) {
      this.#options.onError?.(error, this.#teamId);
    }
  }
}

/** Streams of different teams differ in their batches; of a large one its ends, with their times and ids, tell enough. */
function isSameBatch(a: Stored, b: Stored): boolean {
  if (a.seq !== b.seq || a.events.length !== b.events.length) return false;
  const ends = ({ events }: Stored): unknown => (events.length <= SMALL_BATCH ? events : [events[0], events.at(-1)]);
  return JSON.stringify(ends(a)) === JSON.stringify(ends(b));
}

/** How much text a command carries, roughly: its strings and a little for the rest. */
function textIn(command: Command): number {
  let size = 100;
  for (const key in command) {
    const value: unknown = command[key as keyof Command];
    if (typeof value === 'string') size += value.length;
    else if (typeof value === 'object' && value !== null) size += JSON.stringify(value).length;
  }
  return size;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
