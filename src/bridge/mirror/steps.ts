import type { MirrorTimes } from './times.ts';

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
export function openSteps(options: {
  again: () => void;
  onError: (error: unknown) => void;
  times: Pick<MirrorTimes, 'retry'>;
}): Steps {
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
