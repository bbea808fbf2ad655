/** So many restarts in so long, then a person must look: never a hot loop, never a team that only seems alive. */
const RESTARTS = 3;
const WINDOW_MS = 60_000;

const FIRST_PAUSE_MS = 250;

/** Decides whether and when something that died is started again. */
export interface RestartPolicy {
  /** Milliseconds to wait, or undefined when it died too often. */
  next(key: string, now: number): number | undefined;
}

/** Remembers deaths; each pause is twice the one before, as long as they come close together. */
export function restartPolicy(): RestartPolicy {
  const deaths = new Map<string, number[]>();
  return {
    next(key, now) {
      const recent = (deaths.get(key) ?? []).filter((at) => now - at < WINDOW_MS);
      deaths.set(key, [...recent, now]);
      return recent.length < RESTARTS ? FIRST_PAUSE_MS * 2 ** recent.length : undefined;
    },
  };
}
