/** Replaying 10,000 events takes about 20 ms, as long as writing a snapshot of 10,000 tasks. */
const EVERY = 10_000;

/**
 * A snapshot waits for a quiet moment: it blocks for 2.5 us per task and message, and callers that wait then would pay
 * for it. Without a quiet moment it is taken anyway, after 10 times as many events.
 */
const QUIET_MS = 2_000;
const WITHOUT_QUIET = 10;

interface KeeperOptions {
  /** Events after which a snapshot is worth its cost. */
  readonly every: number | undefined;
  /** The number of tasks and messages. */
  readonly size: () => number;
  /** Takes a snapshot and saves it. Must not throw. */
  readonly keep: () => Promise<void>;
}

/** Decides when a team's snapshot is taken. */
export class SnapshotKeeper {
  readonly #options: KeeperOptions;
  #events: number;
  #timer: NodeJS.Timeout | undefined;
  #keeping: Promise<void> | undefined;

  /** `events` is the number of events since the newest snapshot. */
  constructor(events: number, options: KeeperOptions) {
    this.#events = events;
    this.#options = options;
  }

  /** Counts new events. */
  count(events: number): void {
    this.#events += events;
  }

  /** Starts counting again, for a state that replaced the previous one. */
  restart(events: number): void {
    this.#events = events;
  }

  /** No caller waits now. Takes a snapshot if one is due and it stays quiet. */
  plan(): void {
    if (this.#timer || this.#events < this.#due) return;
    const before = this.#events;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#events === before || this.#events >= WITHOUT_QUIET * this.#due) this.#keeping = this.#keep();
      else this.plan();
    }, QUIET_MS).unref();
  }

  /** Takes a last snapshot if that saves much of the next opening. */
  async close({ snapshot }: { snapshot: boolean }): Promise<void> {
    clearTimeout(this.#timer);
    await this.#keeping;
    if (snapshot && this.#events >= this.#due / 5) await this.#keep();
  }

  /** Larger states get fewer snapshots, because writing one costs in proportion to its size. */
  get #due(): number {
    return Math.max(this.#options.every ?? EVERY, this.#options.size());
  }

  #keep(): Promise<void> {
    this.#events = 0;
    return this.#options.keep();
  }
}
