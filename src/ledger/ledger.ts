import type { CommandOf, CommandType } from '../core/command.ts';
import type { TeamEvent } from '../core/event.ts';
import type { TeamState } from '../core/state.ts';
import type { Journal, Seq, Stored } from '../journal/journal.ts';
import type { LedgerOptions } from './options.ts';
import { TeamActor } from './team-actor.ts';

/** A command as a caller gives it: the ledger adds the time. */
export type NewCommand = { [T in CommandType]: Omit<CommandOf<T>, 'at'> & { at?: number } }[CommandType];

/** Hears every batch that a team's state takes in, after it is durable, with the state that includes it. */
export type BatchListener = (teamId: string, batch: Stored, state: TeamState) => void;

/**
 * The one way to change a team: decides commands against the team's state and records what follows in the journal.
 * Each team has an actor of its own; nothing else locks anything.
 */
export class Ledger {
  readonly #journal: Journal;
  readonly #options: LedgerOptions;
  readonly #actors = new Map<string, Promise<TeamActor>>();
  readonly #listeners = new Set<BatchListener>();

  constructor(journal: Journal, options: LedgerOptions = {}) {
    this.#journal = journal;
    this.#options = options;
  }

  /**
   * Does a command, or several as one step, and resolves, once that is durable, with what `pick` made of the state right
   * after it. Refusals are `TeamError`s and change nothing.
   */
  async execute<R>(
    teamId: string,
    command: NewCommand | readonly NewCommand[],
    pick: (state: TeamState, events: TeamEvent[]) => R,
  ): Promise<R> {
    const now = (this.#options.now ?? Date.now)();
    const commands = [command].flat().map((one) => ({ at: now, ...one }));
    const actor = await this.#actor(teamId);
    try {
      return await actor.execute(commands, pick);
    } finally {
      this.#forgetIfEmpty(teamId, actor);
    }
  }

  /** Reads a team's durable state. */
  async view<R>(teamId: string, pick: (state: TeamState, seq: Seq) => R): Promise<R> {
    const actor = await this.#actor(teamId);
    try {
      return await actor.view(pick);
    } finally {
      this.#forgetIfEmpty(teamId, actor);
    }
  }

  /** The batches after `after` that are there now. */
  read(teamId: string, after: Seq): AsyncIterable<Stored> {
    return this.#journal.read(teamId, after);
  }

  /** The batches after `after`, then those that come. */
  follow(teamId: string, after: Seq, signal: AbortSignal): AsyncIterable<Stored> {
    return this.#journal.follow(teamId, after, signal);
  }

  /** Hears the batches of all open teams; returns the way to stop. */
  subscribe(listener: BatchListener): () => void {
    this.#listeners.add(listener);
    for (const opening of this.#actors.values()) {
      void opening.then(
        (actor) => actor.watch(),
        () => {},
      );
    }
    return () => this.#listeners.delete(listener);
  }

  /** The names of all teams. */
  teams(): Promise<string[]> {
    return this.#journal.teams();
  }

  /** Removes a team for good. */
  async drop(teamId: string): Promise<void> {
    await this.#journal.drop(teamId);
    const actor = this.#actors.get(teamId);
    this.#actors.delete(teamId);
    await (await actor)?.close({ snapshot: false });
  }

  /** Lets what waits finish and keeps snapshots. The journal stays open: it belongs to whoever opened it. */
  async close(): Promise<void> {
    const actors = [...this.#actors.values()];
    this.#actors.clear();
    for (const opening of actors) {
      // One that could not be opened has told its callers so.
      const actor = await opening.catch(() => undefined);
      await actor?.close({ snapshot: true });
    }
  }

  /** One that cannot be opened is not kept: the next call tries again, and other teams never notice. */
  #actor(teamId: string): Promise<TeamActor> {
    let opening = this.#actors.get(teamId);
    if (!opening) {
      opening = TeamActor.open(this.#journal, teamId, {
        ...this.#options,
        onBatch: (batch, state) => this.#emit(teamId, batch, state),
      });
      this.#actors.set(teamId, opening);
      opening.then(
        (actor) => this.#listeners.size > 0 && actor.watch(),
        () => this.#actors.delete(teamId),
      );
    }
    return opening;
  }

  /** Asking for teams that do not exist must not fill the memory. */
  #forgetIfEmpty(teamId: string, actor: TeamActor): void {
    if (actor.isEmpty) this.#actors.delete(teamId);
  }

  #emit(teamId: string, batch: Stored, state: TeamState): void {
    for (const listener of this.#listeners) {
      try {
        listener(teamId, batch, state);
      } catch (error) {
        this.#options.onError?.(error, teamId);
      }
    }
  }
}
