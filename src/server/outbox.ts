import { LOOK_MS } from './limits.ts';
import type { Limits } from './limits.ts';
import type { Turns } from './turns.ts';

/** Carries frames to one client. */
export interface Carrier {
  /**
   * Hands frames to the kernel, in order. Calls `moved` after each piece that the kernel took, `done` after the last.
   */
  write(frames: readonly string[], moved: Taken, done: Taken): void;
}

/** Called when the kernel took something, or with the error. */
export type Taken = (error?: Error | null) => void;

/** Frames that are sent together. */
interface Parcel {
  readonly frames: readonly string[];
  readonly size: number;
  /** Called when they are handed to the carrier. */
  readonly onSent?: (() => void) | undefined;
  /** Called once, with whether the kernel took them. */
  readonly onTaken?: ((isTaken: boolean) => void) | undefined;
}

/** What waits to be sent to one client. */
export type Outbox = ReturnType<typeof openOutbox>;

/** What an outbox works with. */
export interface OutboxOptions {
  readonly limits: Limits;
  readonly turns: Turns;
}

/** Large enough that system calls cost little, small enough that a slow client visibly reads within seconds. */
const WRITE_CHARS = 256 * 1024;

/**
 * Gathers all frames of one turn into one write. Knows how a client reads: how much waits, and for how long it has
 * taken nothing. It holds at most the limit plus one parcel; then it calls `onOverflow` instead.
 */
export function openOutbox(carrier: Carrier, { limits, turns }: OutboxOptions, onOverflow: () => void) {
  let queue: Parcel[] = [];
  let waiting = 0;
  let writing = false;
  let planned: 'answer' | 'push' | undefined;
  let closed = false;
  /** The number of checks since the client took something. */
  let looks = 0;
  let listeners: (() => void)[] = [];

  return {
    /** Sends a frame as an answer, in one write with everything else of this turn. */
    send(frame: string, onTaken?: (isTaken: boolean) => void): void {
      post({ frames: [frame], size: frame.length, onTaken }, 'answer');
    },

    /** Pushes frames, all of them or none. */
    push(frames: readonly string[], onSent?: () => void): void {
      post({ frames, size: frames.reduce((sum, frame) => sum + frame.length, 0), onSent }, 'push');
    },

    /** Whether too much waits; then nothing new should begin for this client. */
    get isBusy(): boolean {
      return !closed && waiting > limits.busyBytes;
    },

    /**
     * Whether frames wait and the client has taken nothing for too long. Called every `LOOK_MS`. It counts checks
     * instead of time: a daemon that was itself suspended or starved must not blame its clients for that.
     */
    isStalled(): boolean {
      if (!writing) looks = 0;
      else looks++;
      return looks * LOOK_MS > limits.stallMs;
    },

    /** Resolves when the client has read enough, or is gone. */
    whenFree(): Promise<void> {
      if (closed || waiting <= limits.busyBytes) return Promise.resolve();
      return new Promise((resolve) => listeners.push(resolve));
    },

    /** The same with a callback, which usually runs at once. */
    whenRead(hear: () => void): void {
      if (closed || waiting <= limits.busyBytes) hear();
      else listeners.push(hear);
    },

    /** Resolves when everything was sent, or the client is gone. */
    async whenEmpty(): Promise<void> {
      while (!closed && waiting > 0) await new Promise<void>((resolve) => listeners.push(resolve));
    },

    /** Drops the frames that wait, except those that the kernel already has. */
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
      // After an error the connection is about to close. Until then nothing more is written.
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
