/**
 * The turns of the event loop. Input from sockets and other processes arrives with turns. All callers that wait for the
 * end of a turn continue together, so that their batches are flushed to disk together.
 */
export class Turns {
  #end: Promise<void> | undefined;

  /** Resolves when all input of this turn has arrived. */
  end(): Promise<void> {
    return (this.#end ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#end = undefined;
        resolve();
      });
    }));
  }
}

/** Resolves after all pending microtasks: callers in this process that got an answer have sent their next call. */
export function allSpoken(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
