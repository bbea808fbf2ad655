import { AsyncLocalStorage } from 'node:async_hooks';
import type { Command, CommandOf, CommandType } from '../core/command.ts';
import { hasCode, TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import type { TeamState } from '../core/state.ts';
import type { Journal, Seq, Stored } from '../journal/journal.ts';
import type { LedgerOptions, Picker } from './options.ts';
import { TeamWriter } from './team-writer.ts';
import { Turns } from './turns.ts';

/** A command as a caller gives it: the ledger adds the time. */
export type NewCommand = { [T in CommandType]: Omit<CommandOf<T>, 'at'> & { at?: number } }[CommandType];

/** Most calls to a closed team come right after it was closed. */
const IDLE_MS = 60_000;

/** Far more teams than work at the same time. A closed one takes about 100 kB, and opens again in milliseconds. */
const OPEN_TEAMS = 256;

/** A writer, and how many calls are using it. */
interface Entry {
  readonly opening: Promise<TeamWriter>;
  /** Set once it is open. */
  writer?: TeamWriter;
  users: number;
}

/** Gets every batch that a team's state takes in, after it is durable, with the state that includes it. */
export type BatchListener = (teamId: string, batch: Stored, state: TeamState) => void;

/**
 * The only way to change a team: decides commands against the team's state and appends the resulting events to the
 * journal. Each team has its own writer; there are no other locks.
 */
export class Ledger {
  readonly #journal: Journal;
  readonly #options: LedgerOptions;
  readonly #writers = new Map<string, Entry>();
  readonly #turns = new Turns();
  readonly #listeners = new Set<BatchListener>();
  readonly #leaving = new Set<Promise<void>>();
  #sweep: NodeJS.Timeout | undefined;
  #closed = false;
  /** Marks calls made inside `fromMemory`; created on first use. */
  #remembering: AsyncLocalStorage<true> | undefined;

  constructor(journal: Journal, options: LedgerOptions = {}) {
    this.#journal = journal;
    this.#options = options;
  }

  /**
   * Executes a command, or several as one step. Resolves, once the events are durable, with what `pick` returned for
   * the state right after them. Refusals are `TeamError`s and change nothing. Inputs must be parsed already
   * (`CreateTaskInput.parse`), with defaults and within limits: no later code checks them. `SharedTaskList` and
   * `Mailbox` accept unparsed input.
   */
  execute<R>(teamId: string, command: NewCommand | readonly NewCommand[], pick: Picker<R>): Promise<R> {
    const now = this.now();
    const picker = this.#options.around ? this.#options.around(pick) : pick;
    const commands = 'type' in command ? [timed(command, now)] : command.map((one) => timed(one, now));
    const writer = this.#writers.get(teamId)?.writer;
    // Commands come by the thousand, nearly all to an open team that exists. This path avoids even a closure for them.
    if (writer?.exists) return writer.execute(commands, now, picker);
    return this.#open(teamId, (opened) => opened.execute(commands, now, picker));
  }

  /** The time by which commands are decided. */
  now(): number {
    return (this.#options.now ?? Date.now)();
  }

  /** Reads a team's durable state. */
  view<R>(teamId: string, pick: (state: TeamState, seq: Seq) => R): Promise<R> {
    if (this.#remembering?.getStore()) return this.#recall(teamId, pick);
    return this.#use(teamId, (writer) => writer.view(pick));
  }

  /**
   * For when the journal is unreachable: inside `work`, reads of teams in memory return their last known state. Use it
   * for display only, never to decide.
   */
  fromMemory<R>(work: () => Promise<R>): Promise<R> {
    this.#remembering ??= new AsyncLocalStorage();
    return this.#remembering.run(true, work);
  }

  /**
   * Reads the durable state of every team, or of those that `of` accepts. A team that cannot be read does not hide the
   * others: `unreadable` gives its result instead.
   */
  async viewAll<R>(
    pick: (state: TeamState, seq: Seq) => R,
    { of, unreadable }: { of?: (teamId: string) => boolean; unreadable: (teamId: string, error: TeamError) => R },
  ): Promise<R[]> {
    const names = (await this.teams()).filter((teamId) => of?.(teamId) ?? true);
    return Promise.all(
      names.map((teamId) =>
        this.view(teamId, pick).catch((error: unknown) => {
          if (hasCode(error, 'corrupt', 'unsupported')) return unreadable(teamId, error);
          throw error;
        }),
      ),
    );
  }

  /** The batches after `after` that exist now. */
  read(teamId: string, after: Seq): AsyncIterable<Stored> {
    return this.#journal.read(teamId, after);
  }

  /** The batches after `after`, then new ones as they come. */
  follow(teamId: string, after: Seq, signal: AbortSignal): AsyncIterable<Stored> {
    return this.#journal.follow(teamId, after, signal);
  }

  /** Calls the listener with the batches of all open teams; returns a function that stops it. */
  subscribe(listener: BatchListener): () => void {
    this.#listeners.add(listener);
    for (const { opening } of this.#writers.values()) {
      void opening.then(
        (writer) => writer.watch(),
        () => {},
      );
    }
    return () => this.#listeners.delete(listener);
  }

  /** The names of all teams. */
  teams(): Promise<string[]> {
    if (!this.#remembering?.getStore()) return this.#journal.teams();
    return Promise.resolve(
      [...this.#writers].flatMap(([teamId, { writer }]) => (writer?.exists ? [teamId] : [])).sort(),
    );
  }

  /** Adds a whole team from elsewhere, or nothing. */
  async restore(teamId: string, batches: readonly (readonly TeamEvent[])[]): Promise<void> {
    if (!this.#journal.restore) {
      throw new TeamError(
        'unsupported',
        'A journal on servers cannot take in a team whole: import it with a daemon on a journal of its own, then use troupe journal copy',
      );
    }
    // A last snapshot of a closing writer must not end up with a new team of the same name.
    await Promise.all(this.#leaving);
    try {
      await this.#journal.restore(teamId, batches);
    } catch (error) {
      throw hasCode(error, 'journal_conflict') ? nameTaken(teamId) : error;
    }
    // A writer that looked for the team before would not see it.
    const entry = this.#writers.get(teamId);
    this.#writers.delete(teamId);
    await closeActor(entry, { snapshot: false });
  }

  /** Removes a team for good. */
  async drop(teamId: string): Promise<void> {
    await Promise.all(this.#leaving);
    await this.#journal.drop(teamId);
    const entry = this.#writers.get(teamId);
    this.#writers.delete(teamId);
    await closeActor(entry, { snapshot: false });
  }

  /**
   * Lets waiting commands finish and saves snapshots; later calls fail with `storage`. The journal stays open: its
   * opener closes it.
   */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweep);
    const entries = [...this.#writers.values()];
    this.#writers.clear();
    for (const entry of entries) await closeActor(entry, { snapshot: true });
    await Promise.all(this.#leaving);
  }

  async #recall<R>(teamId: string, pick: (state: TeamState, seq: Seq) => R): Promise<R> {
    const writer = this.#writers.get(teamId)?.writer;
    if (writer?.exists) return writer.recall(pick);
    throw new TeamError(
      'storage',
      `The journal is unreachable, and team ${teamId} is not in memory: try again when it is back`,
    );
  }

  /** A short path for nearly all calls: those to an open team that exists. They come by the thousand. */
  #use<R>(teamId: string, work: (writer: TeamWriter) => Promise<R>): Promise<R> {
    const writer = this.#writers.get(teamId)?.writer;
    return writer?.exists ? work(writer) : this.#open(teamId, work);
  }

  async #open<R>(teamId: string, work: (writer: TeamWriter) => Promise<R>): Promise<R> {
    const entry = this.#entry(teamId);
    let writer: TeamWriter | undefined;
    entry.users++;
    try {
      writer = await entry.opening;
      return await work(writer);
    } finally {
      entry.users--;
      // Calls to teams that do not exist must not fill the memory.
      if (entry.users === 0 && writer?.isEmpty) {
        this.#forget(teamId, entry);
        await writer.close({ snapshot: false });
      }
      this.#release((one) => this.#writers.size > this.#most && one.canLeave);
    }
  }

  get #most(): number {
    return this.#options.openTeams ?? OPEN_TEAMS;
  }

  /** Removes unused teams from memory; the next call opens them again. */
  #release(mayGo: (writer: TeamWriter) => boolean): void {
    for (const [teamId, { writer }] of this.#writers) {
      if (!writer || !mayGo(writer)) continue;
      this.#writers.delete(teamId);
      const leaving = writer.close({ snapshot: true }).catch((error: unknown) => this.#report(error, teamId));
      this.#leaving.add(leaving);
      void leaving.finally(() => this.#leaving.delete(leaving));
    }
  }

  /** A team that cannot be opened is not kept: the next call tries again, and other teams never notice. */
  #entry(teamId: string): Entry {
    if (this.#closed) throw new TeamError('storage', `The ledger is closed: open a new one to use team ${teamId}`);
    const present = this.#writers.get(teamId);
    if (present) return present;
    const idleMs = this.#options.idleMs ?? IDLE_MS;
    this.#sweep ??= setInterval(() => this.#release((writer) => writer.isAtRest()), idleMs).unref();
    const opening = TeamWriter.open(this.#journal, teamId, {
      ...this.#options,
      turns: this.#turns,
      onError: (error) => this.#report(error, teamId),
      onBatch: (batch, state) => this.#emit(teamId, batch, state),
    });
    const entry: Entry = { opening, users: 0 };
    this.#writers.set(teamId, entry);
    opening.then(
      (writer) => {
        entry.writer = writer;
        if (this.#listeners.size > 0) writer.watch();
      },
      () => this.#forget(teamId, entry),
    );
    return entry;
  }

  #forget(teamId: string, entry: Entry): void {
    if (this.#writers.get(teamId) === entry) this.#writers.delete(teamId);
  }

  #emit(teamId: string, batch: Stored, state: TeamState): void {
    for (const listener of this.#listeners) {
      try {
        listener(teamId, batch, state);
      } catch (error) {
        this.#report(error, teamId);
      }
    }
  }

  #report(error: unknown, teamId: string): void {
    try {
      this.#options.onError?.(error, teamId);
    } catch {
      // An error handler that throws must not cause more errors.
    }
  }
}

function nameTaken(teamId: string): TeamError {
  return new TeamError('conflict', `There is a team ${teamId} already: delete it first`, {
    facts: { option: { field: 'rename', effect: 'import the other one under another name' } },
  });
}

/** The spread comes first: V8 then copies an object as it is. */
function timed(command: NewCommand, now: number): Command {
  return { ...command, at: command.at ?? now };
}

/** A writer that could not be opened has already told its callers. */
async function closeActor(entry: Entry | undefined, options: { snapshot: boolean }): Promise<void> {
  const writer = await entry?.opening.catch(() => undefined);
  await writer?.close(options);
}
