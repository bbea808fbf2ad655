import { RESTARTS } from '../core/limits.ts';

const WINDOW_MS = 60_000;

const FIRST_PAUSE_MS = 250;

/**
 * How long to wait before a member that died is started again, given when it last was; undefined when it died too often
 * and a person must look. Each pause is twice the one before, as long as they come close together.
 */
export function pauseBeforeRestart(restarts: readonly number[], now: number): number | undefined {
  const recent = restarts.filter((at) => now - at < WINDOW_MS).length;
  return recent < RESTARTS ? FIRST_PAUSE_MS * 2 ** recent : undefined;
}
