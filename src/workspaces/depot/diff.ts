import { requireId, splitLines, splitZero } from '../git.ts';
import { toText } from '../paths.ts';
import type { Change, ObjectId } from '../workspace.ts';
import { readRaw, SAFE_DIFF } from './compare.ts';
import type { RawChange } from './compare.ts';
import type { DepotHandle } from './handle.ts';
import { readSections } from './patch.ts';
import type { Hunk } from './patch.ts';

/** How much of a difference is wanted. */
export interface DiffOptions {
  /** Lines around each change. */
  readonly context?: number;
  /** Bytes of text for all files together. With 0, files are only listed and counted. */
  readonly maxBytes?: number;
  /** A file with more bytes is folded. */
  readonly maxFileBytes?: number;
  /** These paths alone. */
  readonly paths?: readonly string[];
  /** Takes binary files for text. */
  readonly asText?: boolean;
  readonly signal?: AbortSignal;
}

/** One file of a difference. */
export interface DiffFile extends Change {
  /** Lines that were added and removed; undefined if they were not counted. */
  readonly added?: number;
  readonly deleted?: number;
  /** As in git, such as `100755`; zeros for a side without the file. */
  readonly oldMode: string;
  readonly newMode: string;
  /** Why hunks are missing: no text, too large, or the bound of the whole difference. */
  readonly folded?: 'binary' | 'large' | 'bound';
  readonly hunks: readonly Hunk[];
}

/** A difference within bounds. Every file is listed, with or without its hunks. */
export interface Diff {
  readonly files: readonly DiffFile[];
  readonly added: number;
  readonly deleted: number;
  /** The unified text of all hunks that are here. */
  readonly text: string;
  /** Whether hunks are missing because of `maxBytes`. */
  readonly isCut: boolean;
}

const MAX_BYTES = 512 * 1024;
const MAX_FILE_BYTES = 512 * 1024;

/** Reads how two commits or trees differ. No program runs that attributes or settings name. */
export async function readDiff(
  handle: DepotHandle,
  [from, to]: readonly [ObjectId, ObjectId],
  options: DiffOptions = {},
): Promise<Diff> {
  const { context = 3, maxBytes = MAX_BYTES, maxFileBytes = MAX_FILE_BYTES, paths, asText, signal } = options;
  const sides = [requireId(from), requireId(to), ...(paths ? ['--', ...paths] : [])];
  if (paths?.length === 0) return { files: [], added: 0, deleted: 0, text: '', isCut: false };
  // Git takes a file above this size for a binary one, and does not read it.
  const config = [`core.bigFileThreshold=${maxFileBytes}`];
  const words = ['diff-tree', '-r', '--find-renames', '--full-index', '--no-abbrev', ...SAFE_DIFF];
  if (asText) words.push('--text');
  const [facts, patch] = await Promise.all([
    handle.askLasting([...words, '-z', '--raw', '--numstat', ...sides], { config, signal }),
    maxBytes === 0
      ? { out: Buffer.of(), isCut: true }
      : handle.run([...words, '--patch', `--unified=${context}`, ...sides], { config, maxBytes, cut: true, signal }),
  ]);
  const parts = splitZero(facts.out);
  const raw = readRaw(parts);
  const counts = readCounts(parts.slice(raw.reduce((sum, { from: old }) => sum + (old ? 3 : 2), 0)));
  const counted = raw.map((change, i) => ({ change, count: counts[i] as Count }));
  const sections = readSections(patch.out);
  const unread = counted.filter(({ count }) => count.added === undefined).map(({ change }) => change);
  const large = await findLarge(handle, unread, maxFileBytes);

  let at = 0;
  const files = counted.map(({ change, count }): DiffFile => {
    // A file that became a link is shown as one that goes and one that comes.
    const own = sections.slice(at, (at += change.status === 'type-changed' ? 2 : 1));
    const isBound = own.length === 0 || own.some(({ isWhole }) => !isWhole);
    const why = large.has(change.newId) || large.has(change.oldId) ? 'large' : 'binary';
    const folded = count.added === undefined ? why : isBound ? 'bound' : undefined;
    return {
      path: toText(change.path),
      status: change.status,
      ...(change.from && { from: toText(change.from) }),
      ...count,
      oldMode: change.oldMode,
      newMode: change.newMode,
      ...(folded && { folded }),
      hunks: own.flatMap(({ hunks }) => hunks),
    };
  });
  // The end of the last whole line, if the rest is cut off.
  const end = patch.out.lastIndexOf(10) + 1;
  return {
    files,
    added: files.reduce((sum, { added = 0 }) => sum + added, 0),
    deleted: files.reduce((sum, { deleted = 0 }) => sum + deleted, 0),
    text: patch.out.toString('utf8', 0, end),
    isCut: patch.isCut,
  };
}

/** The whole difference with binary files, for `git apply`. */
export async function readPatch(
  { run }: DepotHandle,
  [from, to]: readonly [ObjectId, ObjectId],
  { maxBytes = 64 * 1024 * 1024 }: { maxBytes?: number } = {},
): Promise<Buffer> {
  const words = ['diff-tree', '-r', '--patch', '--binary', '--full-index', '--find-renames', ...SAFE_DIFF];
  return (await run([...words, requireId(from), requireId(to)], { maxBytes })).out;
}

/** Where a file got conflict markers since the base: the line, from 1, of the first. */
export interface FoundMarkers {
  readonly path: string;
  readonly line: number;
  /** Only `=======`, which may be the underline of a heading: the other halves of a conflict may be gone. */
  readonly isUnderline: boolean;
}

/** The conflict markers that files got since the base. One half of a conflict is enough, as for `git diff --check`. */
export async function findMarkers(handle: DepotHandle, sides: readonly [ObjectId, ObjectId]): Promise<FoundMarkers[]> {
  const { files } = await readDiff(handle, sides, { context: 0, maxBytes: 16 * 1024 * 1024 });
  return files.flatMap(({ path, hunks }): FoundMarkers[] => {
    const found = hunks.flatMap(({ newStart, lines }) =>
      lines
        .filter((line) => line.startsWith('+'))
        .map((line, i) => ({ text: MARKER.exec(line.slice(1))?.[0] ?? '', line: newStart + i }))
        .filter(({ text }) => text !== ''),
    );
    const [first] = found;
    if (!first) return [];
    // A label makes it certain. Without one, two different halves do.
    if (found.some(({ text }) => text.endsWith(' ')) || found.some(({ text }) => text[0] !== first.text[0])) {
      return [{ path, line: first.line, isUnderline: false }];
    }
    return first.text.startsWith('=') ? [{ path, line: first.line, isUnderline: true }] : [];
  });
}

/** A marker, with the space before its label if it has one. */
const MARKER = /^(?:(?:<{7}|>{7}|\|{7})(?: |\r?$)|={7}\r?$)/;

interface Count {
  readonly added?: number;
  readonly deleted?: number;
}

/** Reads the output of `--numstat -z`: a rename has its paths in two further parts. */
function readCounts(parts: readonly Buffer[]): Count[] {
  const found: Count[] = [];
  for (let at = 0; at < parts.length;) {
    const text = (parts[at] as Buffer).toString('latin1');
    const [, added, deleted, path] = /^(\d+|-)\t(\d+|-)\t([^]*)$/.exec(text) as RegExpExecArray;
    found.push(added === '-' ? {} : { added: Number(added), deleted: Number(deleted) });
    at += path === '' ? 3 : 1;
  }
  return found;
}

/** Which of the files that git did not read are too large, and not binary. */
async function findLarge({ run }: DepotHandle, changes: readonly RawChange[], most: number): Promise<Set<ObjectId>> {
  // A side without the file has only zeros, and git says that it is missing.
  const ids = changes.flatMap(({ oldId, newId }) => [oldId, newId]);
  if (ids.length === 0) return new Set();
  const { out } = await run(['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
    input: `${ids.join('\n')}\n`,
  });
  const lines = splitLines(out).map((line) => line.split(' '));
  return new Set(lines.flatMap(([id = '', size]) => (Number(size) > most ? id : [])));
}
