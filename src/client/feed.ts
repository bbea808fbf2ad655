import type { EventsFrame, RequestFrame, SubscribedFrame } from '../operations/frames.ts';

/** From where to follow a team. */
export interface SubscribeOptions {
  readonly after?: number;
  /** The stream that `after` belongs to: the subscription fails if another team has the name by now. */
  readonly stream?: string;
  readonly signal?: AbortSignal;
  /** Called with the team's newest batch number whenever the subscription is set up, also after a reconnect. */
  readonly onStand?: (seq: number) => void;
}

/**
 * One subscription, over any number of connections. It holds batches not yet consumed, and the cursor for a reconnect.
 */
export class Feed {
  readonly teamId: string;
  readonly #options: SubscribeOptions;
  readonly #waiting: EventsFrame[] = [];
  #after: number;
  /** The id of the stream that it follows, once known. A new team under the same name has another stream. */
  #stream: string | undefined;
  #failure: Error | undefined;
  #wake = (): void => {};

  constructor(teamId: string, options: SubscribeOptions) {
    this.teamId = teamId;
    this.#options = options;
    this.#after = options.after ?? 0;
    this.#stream = options.stream;
  }

  /** The request for everything after the last batch seen. */
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

  /** The request id, which the answer repeats. */
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

  /** Yields batches until the signal aborts or the subscription fails. */
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
