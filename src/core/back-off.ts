/** The first pause and the longest, in milliseconds. */
export interface BackOff {
  readonly least: number;
  readonly most: number;
}

/**
 * How long to wait before the next try: each pause is twice the one before. `chance`, from 0 to 1, makes it half as long to half as long
 * again, so that those that failed together do not come back together.
 */
export function backOff(attempt: number, { least, most }: BackOff, chance: number): number {
  return Math.min(most, least * 2 ** (attempt - 1)) * (0.5 + chance);
}
