import type { Limits } from './limits.ts';

/** Carries frames to one client. */
export interface Carrier {
  /** Hands frames to the kernel, in order: `moved` after each piece that it took, `done` after the last. */
  write(frames: readonly string[], moved: () => void, done: () => void): void;
}

/** Frames that go together, and what is told when they are on their way. */
export interface Parcel {
  readonly frames: readonly string[];
  readonly onSent?: () => void;
}

/** What waits to be sent to one client. */
export type Outbox = ReturnType<typeof openOutbox>;

/** Large enough that a system call is cheap, small enough that a slow client shows some movement within seconds. */
const WRITE_CHARS = 256 * 1024;

/**
 * Gathers all frames of one turn into one write, and knows how a client reads: how much waits, and since when nothing
 * moved. It never holds more than the limit plus one parcel: `onOverflow` is told instead.
 */
export function openOutbox(carrier: Carrier, limits: Limits, onOverflow: () => void) {
  let queue: Parcel[] = [];
  let waiting = 0;
  let writing = false;
  let scheduled = false;
  let closed = false;
  let movedAt = 0;
  let listeners: (() => void)[] = [];

  return {
    /** Frames are sent with everything else of this turn. */
    send(...frames: string[]): void {
      this.post({ frames });
    },

    /** Frames that are sent together or not at all. */
    post(parcel: Parcel): void {
      if (closed) return;
      if (waiting > limits.queueBytes) return onOverflow();
      queue.push(parcel);
      waiting += sizeOf(parcel);
      if (scheduled || writing) return;
      scheduled = true;
      // After the last promise of this turn has run: what they answer goes into the same write.
      queueMicrotask(() => process.nextTick(writeNext));
    },

    /** More waits than should; nothing new should be begun for this client. */
    get isBusy(): boolean {
      return !closed && waiting > limits.busyBytes;
    },

    /** Something waits, and the client has taken none of it for too long. */
    isStalled(now: number): boolean {
      return writing && now - movedAt > limits.stallMs;
    },

    /** Resolves when the client has read on, or is gone. */
    whenFree(): Promise<void> {
      if (closed || waiting <= limits.busyBytes) return Promise.resolve();
      return new Promise((resolve) => listeners.push(resolve));
    },

    /** Resolves when everything is out, or the client is gone. */
    async whenEmpty(): Promise<void> {
      while (!closed && waiting > 0) await new Promise<void>((resolve) => listeners.push(resolve));
    },

    /** Forgets what waits. What the kernel has, it keeps. */
    close(): void {
      closed = true;
      queue = [];
      waiting = 0;
      wake();
    },
  };

  function writeNext(): void {
    scheduled = false;
    if (closed || writing || queue.length === 0) return;
    const parcels = takeSome();
    const size = parcels.reduce((sum, parcel) => sum + sizeOf(parcel), 0);
    writing = true;
    movedAt = performance.now();
    for (const { onSent } of parcels) onSent?.();
    carrier.write(
      parcels.flatMap(({ frames }) => frames),
      () => (movedAt = performance.now()),
      () => {
        writing = false;
        if (closed) return;
        waiting -= size;
        if (waiting <= limits.busyBytes) wake();
        writeNext();
      },
    );
  }

  function takeSome(): Parcel[] {
    let size = 0;
    let count = 0;
    while (count < queue.length && size < WRITE_CHARS) size += sizeOf(queue[count++] as Parcel);
    if (count < queue.length) return queue.splice(0, count);
    const all = queue;
    queue = [];
    return all;
  }

  function wake(): void {
    const woken = listeners;
    listeners = [];
    for (const listener of woken) listener();
  }
}

function sizeOf({ frames }: Parcel): number {
  return frames.reduce((sum, frame) => sum + frame.length, 0);
}
