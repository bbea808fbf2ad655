import { TeamError } from '../core/errors.ts';

/** Gives a place back. A second call does nothing. */
export type Release = () => void;

/** Who may wait for a place: how many at most, and the word for them in the refusal of the next. */
interface Queue {
  readonly most: number;
  readonly of: string;
}

/** A counting semaphore: at most `capacity` places are taken at a time. */
export class Semaphore {
  readonly #capacity: number;
  readonly #queue: Queue;
  readonly #waiting: ((release: Release) => void)[] = [];
  #taken = 0;
  #isPlanned = false;

  constructor(capacity: number, queue: Queue = { most: Infinity, of: 'calls' }) {
    this.#capacity = capacity;
    this.#queue = queue;
  }

  /** How many places are taken. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes a place; undefined if all are taken. */
  tryTake(): Release | undefined {
    return this.#taken < this.#capacity ? this.#give() : undefined;
  }

  /** Takes a place as soon as one is free, in the order of the calls. Rejects if too many wait already. */
  take(): Promise<Release> {
    const { most, of } = this.#queue;
    if (this.#waiting.length >= most) {
      return Promise.reject(new TeamError('overloaded', `${most} ${of} wait for their turn: try again in a moment`));
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1 && this.#taken < this.#capacity) this.#serve();
    });
  }

  /** Does some work in a place of its own. */
  async run<R>(work: () => Promise<R>): Promise<R> {
    const release = await this.take();
    try {
      return await work();
    } finally {
      release();
    }
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
