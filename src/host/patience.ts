import { setTimeout as sleep } from 'node:timers/promises';
import { backOff } from '../core/back-off.ts';
import type { ErrorCode } from '../core/errors.ts';
import { codeOf } from './door.ts';
import type { Door } from './door.ts';

/** What passes by itself: servers elect a leader, a disk is full for a while, too much waits. */
const PASSING: ReadonlySet<ErrorCode | undefined> = new Set(['storage', 'overloaded'] as const);

const PAUSE_MS = { least: 200, most: 10_000 };

/** What trouble is lived with, and until when. */
export interface PatienceOptions {
  readonly signal: AbortSignal;
  /** Hears of each trouble once. */
  readonly onError: (error: unknown) => void;
}

/** Whether the same call may work a moment later. */
export function isPassing(error: unknown): boolean {
  return PASSING.has(codeOf(error));
}

/** Waits before the next try, longer each time. */
export async function pauseBeforeRetry(attempt: number, signal: AbortSignal): Promise<void> {
  await sleep(backOff(attempt, PAUSE_MS, Math.random()), undefined, { signal }).catch(() => {});
}

/**
 * The same door for one who must not lose what it did: while the journal cannot be reached a call is made again, under the
 * same id. Whether it was done the first time nobody knows then; so it is done once.
 */
export function patientDoor(door: Door, { signal, onError }: PatienceOptions): Door {
  return {
    ...door,
    async call(name, input, { commandId = crypto.randomUUID() } = {}) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await door.call(name, input, { commandId });
        } catch (error) {
          if (signal.aborted || !isPassing(error)) throw error;
          if (attempt === 1) onError(error);
          await pauseBeforeRetry(attempt, signal);
        }
      }
    },
  };
}
