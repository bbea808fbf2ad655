import { z } from 'zod';

const Survivor = z.object({
  file: z.string(),
  line: z.number(),
  was: z.string(),
  now: z.string(),
  isCovered: z.boolean(),
});
export type Survivor = z.output<typeof Survivor>;

/** What became of the mutants of a room. */
export const MutationScore = z.object({
  room: z.string(),
  /** How many mutants the room has, and how many were tried. */
  mutants: z.number(),
  sample: z.number(),
  killed: z.number(),
  /** Of these: killed because a test, or its process, hung. */
  hung: z.number(),
  survivors: z.array(Survivor),
  /** Tests that failed without a mutant, and so kill none. */
  unusable: z.array(z.string()),
});
export type MutationScore = z.output<typeof MutationScore>;

/** The interval that holds the share of all mutants in 95 of 100 samples (Wilson). */
export function intervalOf({
  killed,
  sample,
  mutants,
}: Pick<MutationScore, 'killed' | 'sample' | 'mutants'>): [number, number] {
  if (sample === 0) return [0, 1];
  const share = killed / sample;
  if (sample >= mutants) return [share, share];
  const z2 = 1.96 ** 2;
  const middle = (share + z2 / (2 * sample)) / (1 + z2 / sample);
  const half = (1.96 / (1 + z2 / sample)) * Math.sqrt((share * (1 - share)) / sample + z2 / (4 * sample ** 2));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
