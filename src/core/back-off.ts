/** The first and the longest pause, in milliseconds. */
export interface BackOff {
  readonly least: number;
  readonly most: number;
}

/**
 * The pause before the next try, with exponential back-off and jitter: each pause is twice the one before. `chance`,
 * from 0 to 1, scales it by 0.5 to 1.5, so that those that failed together do not retry together.
 */
export function backOff(attempt: number, { least, most }: BackOff, chance: number): number {
  return Math.min(most, least * 2 ** (attempt - 1)) * (0.5 + chance);
}
