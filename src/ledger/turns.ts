/**
 * The turns of the event loop. What comes from outside, from sockets and other processes, comes in turns; all who wait
 * for the end of one go on together, so that what they append goes to the disk together.
 */
export class Turns {
  #end: Promise<void> | undefined;

  /** Until everything that this turn brings has come. */
  end(): Promise<void> {
    return (this.#end ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#end = undefined;
        resolve();
      });
    }));
  }
}

/** Until callers in this process that were just answered have said what they want next: no promise is left to run. */
export function allSpoken(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
