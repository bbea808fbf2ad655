import { requireId, splitZero } from '../git.ts';
import type { Git, GitPlace } from '../git.ts';
import { toText } from '../paths.ts';
import type { Change, ObjectId } from '../workspace.ts';
import type { DepotHandle } from './handle.ts';

/** Options of every comparison: no program that attributes or settings name, no look into submodules. */
export const SAFE_DIFF = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=all', '--no-color'];

/** Options for output that `readRaw` reads. */
export const RAW = ['-z', '--raw', '--full-index', '--no-abbrev'];

/** A change with what git knows about both sides. */
export interface RawChange {
  readonly path: Buffer;
  readonly from?: Buffer | undefined;
  readonly status: Change['status'];
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldId: ObjectId;
  readonly newId: ObjectId;
}

/** How each entry begins. */
const COLON = 58;

const STATUS: Readonly<Record<string, Change['status']>> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  T: 'type-changed',
  R: 'renamed',
};

/** Compares two commits or trees, path by path. */
export async function compare(
  { askLasting }: DepotHandle,
  [from, to]: readonly [ObjectId, ObjectId],
  { renames, signal }: { renames?: boolean; signal?: AbortSignal | undefined } = {},
): Promise<RawChange[]> {
  if (from === to) return [];
  const find = renames ? '--find-renames' : '--no-renames';
  const words = ['diff-tree', '-r', ...RAW, find, ...SAFE_DIFF];
  const { out } = await askLasting([...words, requireId(from), requireId(to)], { signal });
  return readRaw(splitZero(out));
}

/** Compares a commit with what an index has, as if that were a tree. */
export async function compareIndex(
  git: Git,
  place: GitPlace,
  from: ObjectId,
  signal?: AbortSignal,
): Promise<RawChange[]> {
  const words = ['diff-index', '--cached', ...RAW, '--no-renames', ...SAFE_DIFF];
  return readRaw(splitZero((await git.run(place, [...words, requireId(from)], { signal })).out));
}

/** Reads the output of `--raw -z`, up to where something else follows. */
export function readRaw(parts: readonly Buffer[]): RawChange[] {
  const found: RawChange[] = [];
  for (let at = 0; parts[at]?.[0] === COLON;) {
    const [oldMode = '', newMode = '', oldId = '', newId = '', letter = ''] = (parts[at] as Buffer)
      .toString('latin1')
      .slice(1)
      .split(' ');
    const status = STATUS[letter.charAt(0)] ?? 'modified';
    const isMove = status === 'renamed';
    const path = parts[at + (isMove ? 2 : 1)] as Buffer;
    const from = isMove ? parts[at + 1] : undefined;
    found.push({ path, from, status, oldMode, newMode, oldId, newId });
    at += isMove ? 3 : 2;
  }
  return found;
}

/** A change for people and programs. */
export function toChange({ path, from, status }: RawChange): Change {
  return { path: toText(path), status, ...(from && { from: toText(from) }) };
}
