import { createHash } from 'node:crypto';

/** Random numbers from a seed. */
export interface RandomStream {
  /** From 0 to below 1. */
  next(): number;
  /** From `least` to below `most`. */
  between(least: number, most: number): number;
  /** A whole number from 0 to below `count`. */
  below(count: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** The stream that belongs to a text. */
export function randomStream(text: string): RandomStream {
  const hash = createHash('sha256').update(text).digest();
  let [a, b, c, d] = [0, 4, 8, 12].map((at) => hash.readUInt32LE(at)) as [number, number, number, number];
  // sfc32: small, fast, and good enough to choose faults.
  const next = (): number => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    next,
    between: (least, most) => least + next() * (most - least),
    below,
    chance: (probability) => next() < probability,
    pick: <T>(list: readonly T[]) => list[below(list.length)] as T,
  };
}
