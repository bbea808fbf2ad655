/** The first and the longest pause, in milliseconds. */
export interface BackOff {
  readonly least: number;
  readonly most: number;
}

/** The pause before the next try: each is twice the one before. Without a `chance`, there is no jitter. */
export function backOff(attempt: number, { least, most }: BackOff, chance = 0.5): number {
  return jitter(Math.min(most, least * 2 ** (attempt - 1)), chance);
}

/**
 * Scales a pause by 0.5 to 1.5, so that those that failed together do not retry together. `chance` is a random number
 * from 0 to 1.
 */
export function jitter(pause: number, chance: number): number {
  return pause * (0.5 + chance);
}
