/**
 * Calls that run now. A client repeats a call whose connection was lost, and the first one still runs: its hooks must not
 * run twice, and both must get the same answer.
 */
export class RunningCalls {
  readonly #running = new Map<string, Promise<unknown>>();

  /** Runs the call, or waits for the one with this key; without a key it always runs. */
  join<R>(key: string | undefined, run: () => Promise<R>): Promise<R> {
    if (key === undefined) return run();
    const before = this.#running.get(key) as Promise<R> | undefined;
    if (before) return before;
    const running = run().finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }
}
