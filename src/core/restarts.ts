import { backOff } from './back-off.ts';
import { MAX_RESTARTS_PER_NIGHT, RESTARTS, RESTARTS_PER_NIGHT } from './limits.ts';

const MINUTE_MS = 60_000;

/** A member that crashes every half hour is never in a hot loop, but pays for the same work all night. */
const NIGHT_MS = 12 * 60 * MINUTE_MS;

const PAUSE_MS = { least: 250, most: Infinity };

/** What follows from a crash: a restart after a pause, or a question to a person. */
export type AfterCrash =
  | { readonly restartsIn: number }
  | { readonly restartsIn?: undefined; readonly times: number; readonly within: string };

/**
 * Whether a member that crashed is restarted, given the times of its recent restarts. Each pause is twice the one
 * before, while restarts come close together.
 */
export function afterCrash(restarts: readonly number[], now: number, perNight = RESTARTS_PER_NIGHT): AfterCrash {
  const recent = restarts.filter((at) => now - at < MINUTE_MS).length;
  if (recent >= RESTARTS) return { times: recent + 1, within: 'a minute' };
  const tonight = restarts.filter((at) => now - at < NIGHT_MS).length;
  if (tonight >= perNight) return { times: tonight + 1, within: '12 hours' };
  return { restartsIn: backOff(recent + 1, PAUSE_MS) };
}

/** The times of restarts that the next decision needs, newest last. */
export function withRestart(restarts: readonly number[], at: number): number[] {
  return [...restarts.filter((before) => at - before < NIGHT_MS), at].slice(-MAX_RESTARTS_PER_NIGHT);
}
