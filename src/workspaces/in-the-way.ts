import { lstat } from 'node:fs/promises';
import type { RawChange } from './depot/compare.ts';
import { inFolder } from './paths.ts';

/** What the old tree does not have and is where the new one adds something, or above it. */
export async function findInTheWay(
  folder: string,
  changes: readonly Pick<RawChange, 'path' | 'status'>[],
): Promise<Buffer[]> {
  // One above or below a path that is added goes: no tree has both.
  const changed = new Set(changes.map(({ path }) => path.toString('latin1')));
  /** Folders above a path: whether something else is in their place. */
  const blocked = new Map<string, boolean>();
  const found: Buffer[] = [];
  const isBlocked = async (parent: Buffer): Promise<boolean> => {
    const name = parent.toString('latin1');
    const known = blocked.get(name);
    if (known !== undefined) return known;
    const facts = await lstat(inFolder(folder, parent)).catch(() => undefined);
    const isIt = facts !== undefined && !facts.isDirectory() && !changed.has(name);
    blocked.set(name, isIt);
    if (isIt) found.push(parent);
    return isIt;
  };
  for (const { path, status } of changes) {
    if (status !== 'added') continue;
    let end = path.indexOf(47);
    while (end !== -1 && !(await isBlocked(path.subarray(0, end)))) end = path.indexOf(47, end + 1);
    if (end !== -1 || !(await lstat(inFolder(folder, path)).catch(() => undefined))) continue;
    // A folder whose files all go makes room for a file.
    const under = `${path.toString('latin1')}/`;
    if (![...changed].some((other) => other.startsWith(under))) found.push(path);
  }
  return found;
}
