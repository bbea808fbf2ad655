import { backOff } from '../core/back-off.ts';

const PAUSE_MS = { least: 20, most: 2_000 };

/** How often and for how long something that failed is tried again: pauses that grow, until patience is over. */
export class Retries {
  readonly #patience: number;
  #failures = 0;
  #giveUp: number | undefined;

  constructor(patience: number) {
    this.#patience = patience;
  }

  /** It did not work, and may the next time. */
  failed(): void {
    this.#failures++;
  }

  /** It was refused, which is an answer: it is not asked for again. */
  refused(): void {
    this.#failures++;
    this.#giveUp = 0;
  }

  /** It worked: what failed before does not count any more. */
  succeeded(): void {
    this.#failures = 0;
    this.#giveUp = undefined;
  }

  /** Waits until it may be tried; false when it has been tried for long enough. Where nothing failed it is tried at once. */
  async next(): Promise<boolean> {
    if (this.#failures === 0) return true;
    // Not asked before it is needed: the first look at this clock takes Node 2 ms.
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
