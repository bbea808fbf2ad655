/** Set by `npm run proof`. */
export const isProof = Boolean(process.env['TROUPE_PROOF']);

/**
 * How often a test repeats what only shows by repetition (kills at random moments, races). `npm test` takes the small sample, `npm run
 * proof` the large one; the code is the same. A number in `TROUPE_PROOF` above 1 multiplies the large one.
 */
export function rounds(sample: number, proof: number): number {
  return isProof ? proof * Math.max(1, Number(process.env['TROUPE_PROOF']) || 1) : sample;
}

/** How often a property is tried on random input: so often in `npm test`, sixty times as often in `npm run proof`. */
export function tries(sample: number): { numRuns: number } {
  return { numRuns: rounds(sample, 60 * sample) };
}
