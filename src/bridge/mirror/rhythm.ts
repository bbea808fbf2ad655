import { backOff } from '../../core/back-off.ts';

/*
 * When a mirror works: a rhythm runs whole passes; a step is one matter in a pass, with its own retries.
 */

/** Retries start after this many milliseconds. */
interface Retries {
  readonly retry: number;
}

/** Retries back off up to this many times the first pause. */
const PAUSES_AT_MOST = 5;

/** The pause after so many failures in a row. */
export function pauseAfter(failures: number, { retry }: Retries): number {
  return backOff(failures, { least: retry, most: PAUSES_AT_MOST * retry });
}

/** Work that runs soon after a request, never twice at once, and once for many requests together. */
export interface Rhythm {
  /** Requests a pass. */
  kick(): void;
  /** Requests a pass after a while. */
  kickLater(ms: number): void;
  /** Requests a pass, and resolves when everything requested so far is done. */
  settled(): Promise<void>;
  /** Stops, and resolves when no pass is running. */
  close(): Promise<void>;
}

/** The shortest time between passes, so that a burst of changes is one pass. */
const PACE_MS = 25;

/** What a rhythm is made of. */
export interface RhythmOptions {
  readonly pass: () => Promise<void>;
  /** Gets the error of a failed pass, which is retried. */
  readonly failed: (error: unknown) => void;
  readonly times: Retries;
}

/** Starts with no request. */
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
      // Set before the pass begins, so that a request during it leads to another pass.
      running = Promise.resolve().then(turn);
    }, PACE_MS);
  };

  const kickLater = (ms: number): void => {
    if (!closed) setTimeout(kick, ms).unref();
  };

  /** Never throws: reports a failure and retries. */
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

/** The independent steps of a mirror: a failing one delays no other. */
export interface Steps {
  /**
   * Handles one matter, mostly a file. Never throws: a failure is listed in `troubles` until the matter succeeds. A
   * slow step goes on in the background and is not started twice.
   */
  readonly step: (matter: string, work: () => unknown) => Promise<void>;
  /** The current failures, in words. */
  troubles(): string[];
  /** Resolves when every started step has ended. */
  settled(): Promise<void>;
  close(): void;
}

/** How long a pass waits for a step: waiting for a held lock takes much longer. */
const STEP_MS = 250;

interface Trouble {
  readonly text: string;
  readonly times: number;
  /** No retry before this time, by the monotonic clock. */
  readonly until: number;
}

/** Starts with no failure. `again` requests another pass over everything. */
export function openSteps(options: { again: () => void; onError: (error: unknown) => void; times: Retries }): Steps {
  const underWay = new Map<string, Promise<void>>();
  const troubles = new Map<string, Trouble>();
  const timers = new Set<NodeJS.Timeout>();
  let closed = false;

  const later = (pause: number): void => {
    if (closed) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      options.again();
    }, pause);
    timer.unref();
    timers.add(timer);
  };

  const attempt = async (matter: string, work: () => unknown): Promise<void> => {
    try {
      await work();
      troubles.delete(matter);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      const before = troubles.get(matter);
      const times = (before?.times ?? 0) + 1;
      const pause = pauseAfter(times, options.times);
      troubles.set(matter, { text, times, until: performance.now() + pause });
      if (!before) options.onError(error);
      later(pause + 10);
    }
  };

  return {
    async step(matter, work) {
      const trouble = troubles.get(matter);
      if (underWay.has(matter) || (trouble && performance.now() < trouble.until)) return;
      let isLate = false;
      const run = attempt(matter, work).finally(() => {
        underWay.delete(matter);
        // Changes in the meantime were not looked at.
        if (isLate && !troubles.has(matter)) later(0);
      });
      underWay.set(matter, run);
      let timer: NodeJS.Timeout | undefined;
      // A step that failed before is not waited for.
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, trouble ? 0 : STEP_MS);
      });
      await Promise.race([run, patience]);
      clearTimeout(timer);
      isLate = underWay.get(matter) === run;
    },
    troubles: () => [...troubles.values()].map(({ text }) => text),
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
    close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
