import { LOOK_MS } from './limits.ts';
import type { Limits } from './limits.ts';
import type { Turns } from './turns.ts';

/** Carries frames to one client. */
export interface Carrier {
  /** Hands frames to the kernel, in order: `moved` after each piece that it took, `done` after the last. */
  write(frames: readonly string[], moved: Taken, done: Taken): void;
}

/** Hears that the kernel took something, or why it did not. */
export type Taken = (error?: Error | null) => void;

/** Frames that go together. */
interface Parcel {
  readonly frames: readonly string[];
  readonly size: number;
  /** Told when they are on their way. */
  readonly onSent?: (() => void) | undefined;
  /** Told once whether the kernel has them. */
  readonly onTaken?: ((isTaken: boolean) => void) | undefined;
}

/** What waits to be sent to one client. */
export type Outbox = ReturnType<typeof openOutbox>;

/** What an outbox works with. */
export interface OutboxOptions {
  readonly limits: Limits;
  readonly turns: Turns;
}

/** Large enough that a system call is cheap, small enough that a slow client shows some movement within seconds. */
const WRITE_CHARS = 256 * 1024;

/**
 * Gathers all frames of one turn into one write, and knows how a client reads: how much waits, and since when nothing
 * moved. It never holds more than the limit plus one parcel: `onOverflow` is told instead.
 */
export function openOutbox(carrier: Carrier, { limits, turns }: OutboxOptions, onOverflow: () => void) {
  let queue: Parcel[] = [];
  let waiting = 0;
  let writing = false;
  let planned: 'answer' | 'push' | undefined;
  let closed = false;
  /** How often it was looked since the client took something. */
  let looks = 0;
  let listeners: (() => void)[] = [];

  return {
    /** Answers with a frame, together with everything else of this turn. */
    send(frame: string, onTaken?: (isTaken: boolean) => void): void {
      post({ frames: [frame], size: frame.length, onTaken }, 'answer');
    },

    /** Pushes frames, all of them or none. */
    push(frames: readonly string[], onSent?: () => void): void {
      post({ frames, size: frames.reduce((sum, frame) => sum + frame.length, 0), onSent }, 'push');
    },

    /** More waits than should; nothing new should be begun for this client. */
    get isBusy(): boolean {
      return !closed && waiting > limits.busyBytes;
    },

    /**
     * Something waits, and the client has taken none of it for too long. Asked every `LOOK_MS`. Looks are counted, not
     * the time: a daemon that was itself stopped or starved must not blame its clients for that.
     */
    isStalled(): boolean {
      if (!writing) looks = 0;
      else looks++;
      return looks * LOOK_MS > limits.stallMs;
    },

    /** Resolves when the client has read on, or is gone. */
    whenFree(): Promise<void> {
      if (closed || waiting <= limits.busyBytes) return Promise.resolve();
      return new Promise((resolve) => listeners.push(resolve));
    },

    /** The same, without a promise: at once as a rule. */
    whenRead(hear: () => void): void {
      if (closed || waiting <= limits.busyBytes) hear();
      else listeners.push(hear);
    },

    /** Resolves when everything is out, or the client is gone. */
    async whenEmpty(): Promise<void> {
      while (!closed && waiting > 0) await new Promise<void>((resolve) => listeners.push(resolve));
    },

    /** Forgets what waits. What the kernel has, it keeps. */
    close(): void {
      closed = true;
      for (const { onTaken } of queue) onTaken?.(false);
      queue = [];
      waiting = 0;
      wake();
    },
  };

  function post(parcel: Parcel, kind: 'answer' | 'push'): void {
    if (closed) return parcel.onTaken?.(false);
    if (waiting > limits.queueBytes) {
      parcel.onTaken?.(false);
      return onOverflow();
    }
    queue.push(parcel);
    waiting += parcel.size;
    if (writing || planned === 'answer' || planned === kind) return;
    planned = kind;
    turns[kind](writeNext);
  }

  function writeNext(): void {
    planned = undefined;
    if (closed || writing || queue.length === 0) return;
    const parcels = takeSome();
    const size = parcels.reduce((sum, parcel) => sum + parcel.size, 0);
    writing = true;
    looks = 0;
    for (const { onSent } of parcels) onSent?.();
    const [first] = parcels;
    const frames = first && parcels.length === 1 ? first.frames : parcels.flatMap((parcel) => parcel.frames);
    carrier.write(frames, moved, (error) => {
      for (const { onTaken } of parcels) onTaken?.(!error);
      // The line is broken, and that is heard in a moment: until then no more is got ready for it.
      if (closed || error) return;
      writing = false;
      waiting -= size;
      if (waiting <= limits.busyBytes && listeners.length > 0) wake();
      writeNext();
    });
  }

  function moved(): void {
    looks = 0;
  }

  function takeSome(): Parcel[] {
    let size = 0;
    let count = 0;
    while (count < queue.length && size < WRITE_CHARS) size += (queue[count++] as Parcel).size;
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
