import { backOff } from '../core/back-off.ts';
import { RESTARTS } from '../core/limits.ts';

const WINDOW_MS = 60_000;

const PAUSE_MS = { least: 250, most: Infinity };

/**
 * How long to wait before a member that died is started again, given when it last was; undefined when it died too often
 * and a person must look. Each pause is twice the one before, as long as they come close together.
 */
export function pauseBeforeRestart(restarts: readonly number[], now: number): number | undefined {
  const recent = restarts.filter((at) => now - at < WINDOW_MS).length;
  return recent < RESTARTS ? backOff(recent + 1, PAUSE_MS, 0.5) : undefined;
}
