import * as fc from 'fast-check';

/**
 * Texts of any code points, also halves of pairs. The same as `fc.string({ unit: 'binary' })`, which keeps a map of all 1.1 million of
 * them: 150 MB in the worker for the rest of the run, and whatever starts a process there copies its page tables.
 */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  const character = fc.oneof(
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 0x7f }) },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 0x10ffff }) },
  );
  return fc.array(character, { maxLength }).map((points) => String.fromCodePoint(...points));
}
