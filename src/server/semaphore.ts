/** Gives a place back. A second call does nothing. */
export type Release = () => void;

/** A counting semaphore: at most `capacity` places are taken at a time. */
export class Semaphore {
  readonly #capacity: number;
  readonly #waiting: ((release: Release) => void)[] = [];
  #taken = 0;
  #isPlanned = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many places are taken. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes a place; undefined if all are taken. */
  tryTake(): Release | undefined {
    return this.#taken < this.#capacity ? this.#give() : undefined;
  }

  /** Takes a place as soon as one is free, in the order of the calls. */
  take(): Promise<Release> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1 && this.#taken < this.#capacity) this.#serve();
    });
  }

  #give(): Release {
    this.#taken++;
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      this.#taken--;
      this.#plan();
    };
  }

  #serve(): void {
    this.#waiting.shift()?.(this.#give());
  }

  /** Serves one waiting caller per turn of the event loop, so that other work comes in between. */
  #plan(): void {
    if (this.#isPlanned || this.#waiting.length === 0) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      if (this.#taken >= this.#capacity) return;
      this.#serve();
      this.#plan();
    });
  }
}
