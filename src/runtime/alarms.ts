/** The longest timeout of a Node timer; an alarm that is due later is set again. */
const LONGEST_MS = 2 ** 31 - 1;

/** One timer for each thing of a team that is due at some time. No timer keeps the process alive. */
export class Alarms {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #onError: (error: unknown, teamId: string) => void;

  /** `onError` gets errors of `ring`. */
  constructor(onError: (error: unknown, teamId: string) => void) {
    this.#onError = onError;
  }

  /** Calls `ring` at that time; replaces an earlier alarm for the same thing. */
  set(teamId: string, id: string, at: number, ring: () => Promise<void>): void {
    this.clear(teamId, id);
    const key = keyOf(teamId, id);
    const wait = Math.max(0, at - Date.now());
    const onTime = (): void => {
      this.#timers.delete(key);
      if (wait > LONGEST_MS) this.set(teamId, id, at, ring);
      else ring().catch((error: unknown) => this.#onError(error, teamId));
    };
    this.#timers.set(key, setTimeout(onTime, Math.min(wait, LONGEST_MS)).unref());
  }

  has(teamId: string, id: string): boolean {
    return this.#timers.has(keyOf(teamId, id));
  }

  clear(teamId: string, id: string): void {
    const key = keyOf(teamId, id);
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}

function keyOf(teamId: string, id: string): string {
  return `${teamId} ${id}`;
}
