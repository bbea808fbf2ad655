/** Replaying 10,000 events takes some 20 ms, as long as it takes to write a snapshot of as many tasks. */
const EVERY = 10_000;

/**
 * A snapshot waits for a quiet moment: it takes 1.4 us for each task and message, all at once, and whoever waited then would
 * pay for it. Where there is no such moment it is taken all the same, so many times later.
 */
const QUIET_MS = 2_000;
const WITHOUT_QUIET = 10;

interface KeeperOptions {
  /** Events after which a snapshot is worth its cost. */
  readonly every: number | undefined;
  /** How many tasks and messages there are. */
  readonly size: () => number;
  /** Takes a snapshot and keeps it. Must not throw. */
  readonly keep: () => Promise<void>;
}

/** Decides when a team's snapshot is taken. */
export class SnapshotKeeper {
  readonly #options: KeeperOptions;
  #events: number;
  #timer: NodeJS.Timeout | undefined;
  #keeping: Promise<void> | undefined;

  /** `events` came after the newest snapshot. */
  constructor(events: number, options: KeeperOptions) {
    this.#events = events;
    this.#options = options;
  }

  /** More events came. */
  count(events: number): void {
    this.#events += events;
  }

  /** Another state took the place of the one that was counted for. */
  restart(events: number): void {
    this.#events = events;
  }

  /** Nobody waits at this moment: if a snapshot is due and that stays so, it is taken. */
  plan(): void {
    if (this.#timer || this.#events < this.#due) return;
    const before = this.#events;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#events === before || this.#events >= WITHOUT_QUIET * this.#due) this.#keeping = this.#keep();
      else this.plan();
    }, QUIET_MS).unref();
  }

  /** Takes a last snapshot where that saves much of the next opening. */
  async close({ snapshot }: { snapshot: boolean }): Promise<void> {
    clearTimeout(this.#timer);
    await this.#keeping;
    if (snapshot && this.#events >= this.#due / 5) await this.#keep();
  }

  /** The larger the state, the rarer: writing it costs as much as it is long. */
  get #due(): number {
    return Math.max(this.#options.every ?? EVERY, this.#options.size());
  }

  #keep(): Promise<void> {
    this.#events = 0;
    return this.#options.keep();
  }
}
