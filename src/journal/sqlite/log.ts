import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { TeamError } from '../../core/errors.ts';
import { DatabaseSync } from '../node-sqlite.ts';

/** The format of a log: https://sqlite.org/fileformat2.html#the_write_ahead_log */
const HEADER = 32;
const FRAME_HEADER = 24;
/** A log with checksums over little-endian words; this number plus one means big-endian. */
const MAGIC = 0x377f0682;
/** The page size of databases that we create; a damaged log header does not tell it. */
const PAGE = 4096;

/** Where a log is broken, and how many commits follow. */
interface Break {
  readonly at: number;
  readonly commits: number;
  readonly salt: string;
}

/**
 * Refuses a log that was damaged after it was written. SQLite reads a log up to the first wrong checksum and takes the
 * rest for an interrupted commit. So a flipped bit would silently lose everything after it. But a commit starts only
 * when the one before it is on disk: with two or more commits after the break, the broken part was acknowledged. (A
 * single one may be the interrupted commit, written out of order.) Opening the database removes the log, so this check
 * comes first. It takes about 5 ms for 4 MB; a file that was closed has no log.
 */
export function requireWholeLog(path: string): void {
  const log = `${path}-wal`;
  let before: Break | undefined;
  let found = findBreak(log);
  // Another process may write meanwhile. Then the break is gone at the next look, or the log was restarted.
  while (found !== undefined && (found.at !== before?.at || found.salt !== before.salt)) {
    before = found;
    found = findBreak(log);
  }
  if (found === undefined) return;
  throw new TeamError(
    'corrupt',
    `${log} is damaged after its first ${found.at} bytes: at least ${found.commits} commits that follow would be lost. Restore ${path} and its log from a copy, or ` +
      `continue without them by cutting the log off there (truncate -s ${found.at} ${log}); nothing was changed.`,
  );
}

/**
 * Truncates a log after its last commit. A commit whose flush failed was refused, but is still in the log. After a
 * crash, the next process would take it for valid. Or, if a shorter commit overwrote its beginning, it would take the
 * rest for damage. The caller holds the write lock, so nobody else writes. Only SQLite knows how many frames count, and
 * it tells only connections outside of a transaction.
 */
export function cutOffRefused(path: string): void {
  const db = new DatabaseSync(path);
  let end: number;
  try {
    // NOOP only reports.
    const { log } = db.prepare('PRAGMA wal_checkpoint(NOOP)').get() as { log: number };
    const { page_size: page } = db.prepare('PRAGMA page_size').get() as { page_size: number };
    end = log === 0 ? 0 : HEADER + log * (FRAME_HEADER + page);
  } finally {
    db.close();
  }
  const file = openSync(`${path}-wal`, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    if (end >= 0 && fstatSync(file).size > end) ftruncateSync(file, end);
  } finally {
    closeSync(file);
  }
}

/** Where a log is broken before at least two commits. */
function findBreak(path: string): Break | undefined {
  const log = readLog(path);
  if (log.length < HEADER) return undefined;
  const words = new DataView(log.buffer, log.byteOffset, log.byteLength);
  const head = readHeader(words);
  const frame = FRAME_HEADER + (head?.pageSize ?? PAGE);
  // All frames since the log's restart have its salt. SQLite ignores a log with a damaged header.
  const saltAt = (start: number): string => log.toString('latin1', start, start + 8);
  const salt = saltAt(head ? 16 : HEADER + 8);
  const at = head ? endOfValid(words, head, { frame, isOurs: (start) => saltAt(start + 8) === salt }) : 0;
  let commits = 0;
  for (let next = Math.max(at, HEADER); next + frame <= log.length; next += frame) {
    // The last frame of a commit holds the size of the database.
    if (words.getUint32(next + 4) > 0 && saltAt(next + 8) === salt) commits++;
  }
  return commits < 2 ? undefined : { at, commits, salt };
}

interface Header {
  readonly pageSize: number;
  readonly isBig: boolean;
  /** The checksum of the header, which those of the frames continue. */
  readonly sum: Sum;
}

interface Sum {
  a: number;
  b: number;
}

function readHeader(words: DataView): Header | undefined {
  const isBig = words.getUint32(0) === MAGIC + 1;
  const sum = { a: 0, b: 0 };
  add(sum, words, { start: 0, length: 24, isBig });
  const isWhole = sum.a === words.getUint32(24) && sum.b === words.getUint32(28);
  return isWhole && (isBig || words.getUint32(0) === MAGIC) ? { pageSize: words.getUint32(8), isBig, sum } : undefined;
}

/** The end of the frames that SQLite reads: each continues the checksum of the one before it. */
function endOfValid(
  words: DataView,
  { pageSize, isBig, sum }: Header,
  { frame, isOurs }: { frame: number; isOurs: (start: number) => boolean },
): number {
  let at = HEADER;
  for (; at + frame <= words.byteLength && isOurs(at); at += frame) {
    add(sum, words, { start: at, length: 8, isBig });
    add(sum, words, { start: at + FRAME_HEADER, length: pageSize, isBig });
    if (sum.a !== words.getUint32(at + 16) || sum.b !== words.getUint32(at + 20)) break;
  }
  return at;
}

/** SQLite's checksum, Fibonacci-weighted: each pair of words changes both halves. */
function add(sum: Sum, words: DataView, part: { start: number; length: number; isBig: boolean }): void {
  let { a, b } = sum;
  const end = part.start + part.length;
  for (let at = part.start; at < end; at += 8) {
    a = (a + words.getUint32(at, !part.isBig) + b) >>> 0;
    b = (b + words.getUint32(at + 4, !part.isBig) + a) >>> 0;
  }
  sum.a = a;
  sum.b = b;
}

/** There are no locks on the log itself, so opening and closing it releases none. */
function readLog(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    // There is no log, or opening the database will report what is wrong with it.
    return Buffer.alloc(0);
  }
  try {
    const log = Buffer.alloc(fstatSync(file).size);
    return log.subarray(0, readSync(file, log, 0, log.length, 0));
  } finally {
    closeSync(file);
  }
}
