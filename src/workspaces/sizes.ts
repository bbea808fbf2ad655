import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The bytes on the disk that a folder takes. Links are not followed; a file with several names counts once. */
export async function sizeOf(folder: string): Promise<number> {
  const seen = new Set<number>();
  const measure = async (path: string): Promise<number> => {
    const facts = await lstat(path).catch(() => undefined);
    if (facts === undefined || (facts.nlink > 1 && !facts.isDirectory() && seen.has(facts.ino))) return 0;
    if (facts.nlink > 1) seen.add(facts.ino);
    const own = facts.blocks * 512;
    if (!facts.isDirectory()) return own;
    const names = await readdir(path).catch(() => []);
    let sum = own;
    // A few at a time: a folder may have a hundred thousand files.
    for (let i = 0; i < names.length; i += 64) {
      const sizes = await Promise.all(names.slice(i, i + 64).map((name) => measure(join(path, name))));
      sum += sizes.reduce((a, b) => a + b, 0);
    }
    return sum;
  };
  return measure(folder);
}
