import type { EventsFrame, RequestFrame, SubscribedFrame } from '../operations/frames.ts';

/** From where to follow a team. */
export interface SubscribeOptions {
  readonly after?: number;
  readonly signal?: AbortSignal;
  /** Told where the team is whenever the subscription stands, also after a lost connection: up to there one catches up. */
  readonly onStand?: (seq: number) => void;
}

/** One subscription, whichever connection carries it: what came and was not taken yet, and from where to go on after a lost one. */
export class Feed {
  readonly teamId: string;
  readonly #options: SubscribeOptions;
  readonly #waiting: EventsFrame[] = [];
  #after: number;
  /** Which team of that name it follows, once that is known. */
  #stream: string | undefined;
  #failure: Error | undefined;
  #wake = (): void => {};

  constructor(teamId: string, options: SubscribeOptions) {
    this.teamId = teamId;
    this.#options = options;
    this.#after = options.after ?? 0;
  }

  /** Asks for what this one has not seen yet. */
  get frame(): RequestFrame {
    const stream = this.#stream;
    const payload = {
      teamId: this.teamId,
      after: this.#after,
      ...(stream !== undefined && { stream }),
      only: 'events',
    };
    return { type: 'subscribe', id: this.id, payload };
  }

  /** By which the answer to its frame is known. */
  get id(): string {
    return `subscribe ${this.teamId}`;
  }

  push(batch: EventsFrame): void {
    if (batch.seq <= this.#after) return;
    this.#after = batch.seq;
    this.#waiting.push(batch);
    this.#wake();
  }

  stands({ seq, stream }: SubscribedFrame): void {
    this.#stream ??= stream;
    this.#options.onStand?.(seq);
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#wake();
  }

  /** What comes, until the signal or a failure ends it. */
  async *batches(): AsyncGenerator<EventsFrame> {
    const { signal } = this.#options;
    const stop = (): void => this.#wake();
    signal?.addEventListener('abort', stop);
    try {
      while (!signal?.aborted) {
        const batch = this.#waiting.shift();
        if (batch) yield batch;
        else if (this.#failure) throw this.#failure;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }
}
