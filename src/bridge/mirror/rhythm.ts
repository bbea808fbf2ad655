/*
 * When a mirror works: a rhythm runs whole passes, and steps are the single matters in a pass, each with its own retries.
 */

/** What went wrong is tried again after so many milliseconds. */
interface Retries {
  readonly retry: number;
}

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
  readonly times: Retries;
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

/** The steps of a mirror, each for itself: what is wrong with one of them holds up no other. */
export interface Steps {
  /**
   * Does something about one matter, a file mostly. Never throws: trouble is told of until the matter has gone well. One that takes long
   * goes on by itself, and is not begun a second time meanwhile.
   */
  readonly step: (matter: string, work: () => unknown) => Promise<void>;
  /** What is in trouble now, in words. */
  troubles(): string[];
  /** Resolves when every step that was begun has ended. */
  settled(): Promise<void>;
  close(): void;
}

/** So long the others wait for a step: a lock that somebody holds is waited for much longer. */
const STEP_MS = 250;

/** What went wrong is tried again, soon and then less often: after so many times the first pause at most. */
const PAUSES_AT_MOST = 5;

interface Trouble {
  readonly text: string;
  readonly times: number;
  /** By the steady clock: before that, it is not tried again. */
  readonly until: number;
}

/** Begins with no trouble. `again` asks for another pass over everything. */
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
      const pause = options.times.retry * Math.min(2 ** (times - 1), PAUSES_AT_MOST);
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
        // What happened meanwhile was not looked at.
        if (isLate && !troubles.has(matter)) later(0);
      });
      underWay.set(matter, run);
      let timer: NodeJS.Timeout | undefined;
      // One that was in trouble before is not waited for.
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
