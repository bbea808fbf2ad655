import { backOff } from '../core/back-off.ts';
import { RESTARTS } from '../core/limits.ts';

const WINDOW_MS = 60_000;

const PAUSE_MS = { least: 250, most: Infinity };

/**
 * The back-off before a dead member is restarted, given the times of its recent restarts. Undefined if it died too
 * often and a person must look. Each pause is twice the one before, while restarts come close together.
 */
export function pauseBeforeRestart(restarts: readonly number[], now: number): number | undefined {
  const recent = restarts.filter((at) => now - at < WINDOW_MS).length;
  return recent < RESTARTS ? backOff(recent + 1, PAUSE_MS, 0.5) : undefined;
}
