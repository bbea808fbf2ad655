import { ringAt } from './wall-clock.ts';

/** One timer for each thing of a team that is due at some time. No timer keeps the process alive. */
export class Alarms {
  readonly #timers = new Map<string, () => void>();
  readonly #onError: (error: unknown, teamId: string) => void;

  /** `onError` gets errors of `ring`. */
  constructor(onError: (error: unknown, teamId: string) => void) {
    this.#onError = onError;
  }

  /** Calls `ring` at that time; replaces an earlier alarm for the same thing. */
  set(teamId: string, id: string, at: number, ring: () => Promise<void>): void {
    this.clear(teamId, id);
    const key = keyOf(teamId, id);
    const onTime = (): void => {
      this.#timers.delete(key);
      ring().catch((error: unknown) => this.#onError(error, teamId));
    };
    this.#timers.set(key, ringAt(at, onTime, { unref: true }));
  }

  has(teamId: string, id: string): boolean {
    return this.#timers.has(keyOf(teamId, id));
  }

  clear(teamId: string, id: string): void {
    const key = keyOf(teamId, id);
    this.#timers.get(key)?.();
    this.#timers.delete(key);
  }

  close(): void {
    for (const takeBack of this.#timers.values()) takeBack();
    this.#timers.clear();
  }
}

function keyOf(teamId: string, id: string): string {
  return `${teamId} ${id}`;
}
