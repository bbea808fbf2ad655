import { requireId, splitZero } from '../git.ts';
import { inNewFolder } from '../places.ts';
import type { Places } from '../places.ts';
import type { ObjectId } from '../workspace.ts';
import { borrowingFrom } from './handle.ts';
import type { DepotHandle } from './handle.ts';
import { mergeCommits, readConflicts } from './merge.ts';

/** Nobody reads what is written here. */
const CHEAP = ['core.fsync=none', 'core.looseCompression=0'];

type Pairs = readonly (readonly [ObjectId, ObjectId])[];

/**
 * The paths in which two commits conflict, for each pair. Merging writes objects, and the depot keeps what it has
 * forever. So these go into a folder that is removed afterwards.
 */
export async function findConflicts(
  handle: DepotHandle,
  { making }: Pick<Places, 'making'>,
  pairs: Pairs,
  signal?: AbortSignal,
): Promise<string[][]> {
  if (pairs.length === 0) return [];
  return inNewFolder({ making }, async (objects) => {
    const variables = { GIT_OBJECT_DIRECTORY: objects, ...borrowingFrom(handle.dir) };
    const aside: DepotHandle = {
      ...handle,
      run: (args, { config = [], ...options } = {}) =>
        handle.run(args, { ...options, variables, config: [...config, ...CHEAP] }),
    };
    const found = (await canMergeMany(handle)) ? await mergeMany(aside, pairs, signal) : [];
    for (const pair of pairs.slice(found.length)) {
      const { conflicts } = await mergeCommits(aside, pair, { signal });
      found.push(conflicts.map(({ path }) => path));
    }
    return found;
  });
}

/** From git 2.40 on, one process merges all pairs: 36 of them took 56 ms of CPU, and 250 ms or more one by one. */
async function canMergeMany({ git }: DepotHandle): Promise<boolean> {
  const [major = 0, minor = 0] = (await git.version()).split('.').map(Number);
  return major > 2 || minor >= 40;
}

/** The results up to the first pair that cannot be merged, because one of its commits is not whole. */
async function mergeMany({ run }: DepotHandle, pairs: Pairs, signal: AbortSignal | undefined): Promise<string[][]> {
  const input = pairs.map(([ours, theirs]) => `${requireId(ours)} ${requireId(theirs)}\n`).join('');
  const words = ['merge-tree', '--write-tree', '--stdin', '--messages'];
  const { out } = await run(words, { input, exits: [0, 1, 128], signal });
  const parts = splitZero(out);
  const found: string[][] = [];
  // Of each pair: a status, the tree, entries of conflicts, an empty part, messages, an empty part.
  for (let from = 2; from < parts.length && found.length < pairs.length;) {
    let end = parts.findIndex((part, i) => i >= from && part.length === 0);
    if (end === -1) break;
    for (end++; parts[end] !== undefined && parts[end]?.length !== 0;) end += Number(parts[end]?.toString()) + 3;
    if (parts[end] === undefined) break;
    found.push(readConflicts(parts.slice(from, end)).map(({ path }) => path));
    from = end + 3;
  }
  return found;
}
