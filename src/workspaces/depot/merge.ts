import { TeamError } from '../../core/errors.ts';
import { GitError } from '../git-errors.ts';
import { isId, requireId, splitZero } from '../git.ts';
import { toText } from '../paths.ts';
import { openRecent } from '../recent.ts';
import type { ObjectId } from '../workspace.ts';
import { makeCommit } from './commit.ts';
import type { NewCommit } from './commit.ts';
import type { DepotHandle } from './handle.ts';
import { isAncestor, TRAVEL_EMAIL } from './saves.ts';

/** A path on which two commits do not agree. */
export interface MergeConflict {
  readonly path: string;
  /** In git's words, such as `contents`, `modify/delete` or `rename/rename`. */
  readonly kinds: readonly string[];
  /** The file in the base, in the first and in the second commit; a side without the file has none. */
  readonly stages: { readonly base?: ObjectId; readonly ours?: ObjectId; readonly theirs?: ObjectId };
}

/** A merge that was made without any folder. */
export interface Merged {
  /** The merged tree. With conflicts, its files have markers, with the base between them. */
  readonly tree: ObjectId;
  readonly conflicts: readonly MergeConflict[];
}

const STAGES = { 1: 'base', 2: 'ours', 3: 'theirs' } as const;

/** How to merge. */
export interface MergeOptions {
  /** What the second commit changed is what differs from here, also if the first does not descend from it. */
  readonly base?: ObjectId | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Merges two commits in memory. They need a common ancestor, or a base. */
export async function mergeCommits(
  handle: DepotHandle,
  [ours, theirs]: readonly [ObjectId, ObjectId],
  { base, signal }: MergeOptions = {},
): Promise<Merged> {
  const { run } = handle;
  if (base !== undefined && !(await isAncestor(handle, base, ours))) {
    return mergeCommits(handle, await makeSides(handle, base, [ours, theirs]), { signal });
  }
  const words = ['merge-tree', '--write-tree', '-z', '--messages', requireId(ours), requireId(theirs)];
  const { code, out, err } = await run(words, { exits: [0, 1], config: ['merge.conflictStyle=zdiff3'], signal });
  const [first = Buffer.of(), ...rest] = splitZero(out);
  const tree = first.toString('latin1');
  // A missing object ends with 1, too: only the tree tells a conflict.
  if (!isId(tree)) {
    const why = `Cannot merge ${theirs} into ${ours}: one of them is not whole in the depot`;
    throw new GitError(/not something we can merge|not a valid/i.test(err) ? 'not_found' : 'corrupt', why, {
      complaint: err,
    });
  }
  return { tree, conflicts: code === 0 ? [] : readConflicts(rest) };
}

/** Two commits with the same files, whose common ancestor is the base. From git 2.40 on, it could be named instead. */
async function makeSides(
  handle: DepotHandle,
  base: ObjectId,
  sides: readonly [ObjectId, ObjectId],
): Promise<readonly [ObjectId, ObjectId]> {
  const author = { name: 'Troupe', email: TRAVEL_EMAIL };
  const make = async (id: ObjectId, parents: readonly ObjectId[]): Promise<ObjectId> =>
    makeCommit(handle, { tree: await handle.treeOf(id), parents, message: 'A side of a merge', author, at: 0 });
  const common = await make(base, []);
  return [await make(sides[0], [common]), await make(sides[1], [common])];
}

/** Reads what `merge-tree` says after the tree: entries of conflicts, an empty one, then messages with their paths and kind. */
export function readConflicts(parts: readonly Buffer[]): MergeConflict[] {
  const found = new Map<string, { kinds: Set<string>; stages: Record<string, ObjectId> }>();
  const of = (path: Buffer) => {
    const name = toText(path);
    const known = found.get(name) ?? { kinds: new Set<string>(), stages: {} };
    found.set(name, known);
    return known;
  };
  const empty = parts.findIndex((part) => part.length === 0);
  const end = empty === -1 ? parts.length : empty;
  for (const part of parts.slice(0, end)) {
    const tab = part.indexOf(9);
    const [, id = '', stage = ''] = part.toString('latin1', 0, tab).split(' ');
    const side = STAGES[Number(stage) as 1 | 2 | 3];
    if (side) of(part.subarray(tab + 1)).stages[side] = id;
  }
  for (let at = end + 1; at < parts.length;) {
    const count = Number(String(parts[at]));
    if (!Number.isInteger(count)) break;
    const kind = /^CONFLICT ?\((.*)\)$/.exec(String(parts[at + 1 + count]))?.[1];
    if (kind !== undefined) for (const path of parts.slice(at + 1, at + 1 + count)) of(path).kinds.add(kind);
    at += count + 3;
  }
  return [...found].map(([path, { kinds, stages }]) => ({ path, kinds: [...kinds], stages }));
}

/** What became of work that was to land. */
export type Landed =
  | { readonly landed: ObjectId; readonly tree: ObjectId }
  | { readonly conflicts: readonly MergeConflict[]; readonly tree: ObjectId };

/**
 * Makes the commit that brings work onto a tip; the branch does not move. `squash`: one commit on the tip. `keep`: a
 * merge commit, with the work as its second parent. With a `base`, what differs from there is the work. A work that adds nothing to the tip lands as the tip itself.
 */
export async function landWork(
  handle: DepotHandle,
  {
    tip,
    work,
    base,
    history = 'squash',
  }: { tip: ObjectId; work: ObjectId; base?: ObjectId | undefined; history?: 'squash' | 'keep' },
  commit: Omit<NewCommit, 'tree' | 'parents'>,
): Promise<Landed> {
  const { tree, conflicts } = await mergeCommits(handle, [tip, work], { base });
  if (conflicts.length > 0) return { conflicts, tree };
  const made = MADE.get(handle);
  if (tree === (made?.landed === tip ? made.tree : await handle.treeOf(tip))) return { landed: tip, tree };
  const parents = history === 'squash' ? [tip] : [tip, work];
  const landed = await makeCommit(handle, { ...commit, tree, parents });
  MADE.set(handle, { landed, tree });
  return { landed, tree };
}

/** What landed last in a depot: the next work mostly lands on it, and a git process less is a seventh of the time. */
const MADE = new WeakMap<DepotHandle, { readonly landed: ObjectId; readonly tree: ObjectId }>();

/** Each part of a ref is the name of a file, and git makes a lock beside it: 255 bytes without `.lock`. */
const PART_BYTES = 250;

/** Whether git accepts a ref. Every landing asks twice, and it depends on nothing else. */
const FIT = openRecent<boolean>(1_000, () => 1);

/** The ref of a team's branch in the depot. */
export async function branchRef({ run }: DepotHandle, name: string): Promise<string> {
  const ref = `refs/heads/${name}`;
  const isFit = await FIT.get(ref, async () => (await run(['check-ref-format', ref], { exits: [0, 1] })).code === 0);
  const isShort = name.split('/').every((part) => Buffer.byteLength(part) <= PART_BYTES);
  if (isFit && isShort && !name.startsWith('-')) return ref;
  throw new TeamError('invalid', `${JSON.stringify(name)} cannot name a branch: choose a name such as troupe/parser`);
}

/** The ref that says where Troupe itself last put a branch. */
export function placedRef(name: string): string {
  return `refs/placed/${name}`;
}
