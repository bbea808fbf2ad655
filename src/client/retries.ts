import { backOff } from '../core/back-off.ts';

const PAUSE_MS = { least: 20, most: 2_000 };

/** Retries with a growing back-off, until the patience is used up. */
export class Retries {
  readonly #patience: number;
  #failures = 0;
  #giveUp: number | undefined;

  constructor(patience: number) {
    this.#patience = patience;
  }

  /** An attempt failed, and the next may succeed. */
  failed(): void {
    this.#failures++;
  }

  /** An attempt was refused. That is an answer, so there is no retry. */
  refused(): void {
    this.#failures++;
    this.#giveUp = 0;
  }

  /** An attempt succeeded: earlier failures no longer count. */
  succeeded(): void {
    this.#failures = 0;
    this.#giveUp = undefined;
  }

  /** Waits for the next attempt; false when the patience is used up. Without a failure it returns true at once. */
  async next(): Promise<boolean> {
    if (this.#failures === 0) return true;
    // Read only when needed: the first read of this clock takes Node 2 ms.
    const now = performance.now();
    const pause = backOff(this.#failures, PAUSE_MS, Math.random());
    this.#giveUp ??= now + this.#patience;
    if (now + pause > this.#giveUp) {
      this.succeeded();
      return false;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    return true;
  }
}
