import { setTimeout as sleep } from 'node:timers/promises';
import { backOff } from '../core/back-off.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { OperationName } from '../operations/index.ts';
import { codeOf } from './door.ts';
import type { Door } from './door.ts';

/** Temporary errors: servers elect a leader, a disk is full for a while, a queue is too long. */
const PASSING: ReadonlySet<ErrorCode | undefined> = new Set(['storage', 'overloaded'] as const);

const PAUSE_MS = { least: 200, most: 10_000 };

/** When to stop retrying, and where to report. */
export interface PatienceOptions {
  readonly signal: AbortSignal;
  /** Gets the first error of each call. */
  readonly onError: (error: unknown) => void;
}

/**
 * Calls that wait until a person has mended damage, too: a damaged depot is repaired by a restart of the daemon, and work
 * that is done must not fail for it.
 */
const WAITS_FOR_REPAIR: ReadonlySet<OperationName> = new Set(['task.complete']);

/** Whether a retry may succeed. */
export function isPassing(error: unknown): boolean {
  return PASSING.has(codeOf(error));
}

/** How long to wait before a retry, longer each time. Milliseconds. */
export function pauseOf(attempt: number): number {
  return Math.round(backOff(attempt, PAUSE_MS, Math.random()));
}

/** Waits before a retry. */
export async function pauseBeforeRetry(attempt: number, signal: AbortSignal): Promise<void> {
  await sleep(pauseOf(attempt), undefined, { signal }).catch(() => {});
}

/**
 * A door that must not lose work: while the journal is unreachable, it retries a call under the same id. Nobody knows
 * whether the first attempt was carried out, so the id makes sure that it happens once.
 */
export function patientDoor(door: Door, { signal, onError }: PatienceOptions): Door {
  return {
    ...door,
    async call(name, input, { commandId = crypto.randomUUID() } = {}) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await door.call(name, input, { commandId });
        } catch (error) {
          const isDamage = codeOf(error) === 'corrupt' && WAITS_FOR_REPAIR.has(name);
          if (signal.aborted || !(isPassing(error) || isDamage)) throw error;
          if (attempt === 1) onError(error);
          await pauseBeforeRetry(attempt, signal);
        }
      }
    },
  };
}
