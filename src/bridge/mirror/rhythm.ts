import type { MirrorTimes } from './times.ts';

/** Work that is done again whenever somebody asks for it: soon, never twice at once, and once for many who ask together. */
export interface Rhythm {
  /** Asks for it. */
  kick(): void;
  /** The same, after a while. */
  kickLater(ms: number): void;
  /** Asks for it, and resolves when all that was asked for until now has been done. */
  settled(): Promise<void>;
  /** Ends it, and resolves when none is under way. */
  close(): Promise<void>;
}

/** Passes come at most this often, so that a burst of changes is one of them. */
const PACE_MS = 25;

/** What a rhythm is made of. */
export interface RhythmOptions {
  readonly pass: () => Promise<void>;
  /** Hears why a pass was not whole; it is tried again. */
  readonly failed: (error: unknown) => void;
  readonly times: Pick<MirrorTimes, 'retry'>;
}

/** Begins with none asked for. */
export function keepRhythm({ pass, failed, times }: RhythmOptions): Rhythm {
  let wanted = 0;
  let done = 0;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const kick = (): void => {
    wanted++;
    if (closed || timer || running) return;
    timer = setTimeout(() => {
      timer = undefined;
      // Known before it begins: what it finds at once asks for the next.
      running = Promise.resolve().then(turn);
    }, PACE_MS);
  };

  const kickLater = (ms: number): void => {
    if (!closed) setTimeout(kick, ms).unref();
  };

  /** Never throws: what failed is told and tried again. */
  const turn = async (): Promise<void> => {
    const target = wanted;
    try {
      await pass();
    } catch (error) {
      failed(error);
      kickLater(times.retry);
    } finally {
      done = target;
      running = undefined;
      if (wanted > target && !closed) kick();
    }
  };

  return {
    kick,
    kickLater,
    async settled() {
      kick();
      const target = wanted;
      while (done < target && !closed) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
