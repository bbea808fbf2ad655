import * as fc from 'fast-check';

/** Draws values, the same in every run. The caller stops when it has seen what it looks for. */
export function* draw<T>(from: fc.Arbitrary<T>, { most, seed }: { most: number; seed: number }): Generator<T> {
  // A sample begins with small values, so one for each value would have no others.
  const some = 25;
  for (let n = 0; n < most; n += some) yield* fc.sample(from, { numRuns: some, seed: seed * most + n });
}
