import { appendFileSync } from 'node:fs';

/** Set by `npm run proof`. */
export const isProof = Boolean(process.env['TROUPE_PROOF']);

/**
 * How often a test repeats what only repetition shows (kills at random moments, races): `sample` times in `npm test`,
 * `proof` times in `npm run proof`. The code is the same. A number above 1 in `TROUPE_PROOF` multiplies `proof`.
 */
export function rounds(sample: number, proof: number): number {
  return isProof ? proof * Math.max(1, Number(process.env['TROUPE_PROOF']) || 1) : sample;
}

/** How often a property is tried on random input: half of `sample` times, and 60 times `sample` in `npm run proof`. */
export function tries(sample: number): { numRuns: number } {
  return { numRuns: rounds(Math.ceil(sample / 2), 60 * sample) };
}

/** What a test counted (added up over all tests of a figure), or measured (joined). */
export type Facts = Readonly<Record<string, number | readonly number[]>>;

/** Tells `npm run proof` what this test counted or measured. Told at its end, so that a failed test tells nothing. */
export function tell(facts: Facts): void {
  const path = process.env['TROUPE_PROOF_FACTS'];
  if (path) appendFileSync(path, `${JSON.stringify(facts)}\n`);
}
