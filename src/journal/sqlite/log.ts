import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { TeamError } from '../../core/errors.ts';
import { DatabaseSync } from '../node-sqlite.ts';

/** How a log is laid out: https://sqlite.org/fileformat2.html#the_write_ahead_log */
const HEADER = 32;
const FRAME_HEADER = 24;
/** A log whose checksums are over words with the first byte last; one more is for the other way, on other processors. */
const MAGIC = 0x377f0682;
/** Of a database as we make it; a log whose header is damaged does not tell. */
const PAGE = 4096;

/** Where a log breaks off, and how many commits are in it after that. */
interface Break {
  readonly at: number;
  readonly commits: number;
  readonly salt: string;
}

/**
 * Refuses a log that was damaged after it was written. SQLite reads a log up to the first frame whose checksum is wrong and takes the rest for
 * a commit that was cut off: a flipped bit costs everything after it, and nobody hears of it. But a commit begins when the one before it is on the
 * disk: with two or more of them behind the break, what is broken was acknowledged. (One alone may be what was cut off, written in
 * another order.) Opening the database removes the log, so this comes first. A log of 4 MB takes some 5 ms; a file that was closed has none.
 */
export function requireWholeLog(path: string): void {
  const log = `${path}-wal`;
  const found = findBreak(log);
  if (found === undefined || found.commits < 2) return;
  // Another process may have written while we read; then the break is closed by now, or the log was begun anew.
  const again = findBreak(log);
  if (again === undefined || again.at !== found.at || again.salt !== found.salt) return;
  throw new TeamError(
    'corrupt',
    `${log} is damaged after its first ${found.at} bytes: at least ${found.commits} commits that follow would be lost. Restore ${path} and its log from a copy, or ` +
      `go on without them by cutting the log off there (truncate -s ${found.at} ${log}); nothing was touched.`,
  );
}

/**
 * Cuts a log off after its last commit. One whose flush failed was refused, and is in there all the same: a process that opens the file after
 * a crash would take it for made, or, where a shorter one has taken the place of its beginning, the rest of it for damage. The caller has begun to
 * write, so nobody else does. How many frames count is known only to SQLite, which tells it to those who are in no transaction.
 */
export function cutOffRefused(path: string): void {
  const db = new DatabaseSync(path);
  let end: number;
  try {
    // It looks, and does nothing.
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

function findBreak(path: string): Break | undefined {
  const log = readLog(path);
  if (log === undefined || log.length < HEADER) return undefined;
  const words = new DataView(log.buffer, log.byteOffset, log.byteLength);
  const head = readHeader(words);
  const frame = FRAME_HEADER + (head?.pageSize ?? PAGE);
  // All frames that were written since the log was begun anew have its salt. SQLite takes a log with a damaged header for none.
  const saltAt = (start: number): string => log.toString('latin1', start, start + 8);
  const salt = saltAt(head ? 16 : HEADER + 8);
  const at = head ? endOfValid(words, head, { frame, isOurs: (start) => saltAt(start + 8) === salt }) : 0;
  let commits = 0;
  for (let next = Math.max(at, HEADER); next + frame <= log.length; next += frame) {
    // A commit's last frame says how large the database is then.
    if (words.getUint32(next + 4) > 0 && saltAt(next + 8) === salt) commits++;
  }
  return { at, commits, salt };
}

interface Header {
  readonly pageSize: number;
  readonly isBig: boolean;
  /** That of the header, from which those of the frames go on. */
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

/** Where the frames end that SQLite reads: each continues the checksum of the one before it. */
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

/** Fibonacci-weighted, as SQLite has it: each pair of words changes both halves. */
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

/** The log has no locks of its own, so opening and closing it ends none. */
function readLog(path: string): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    // There is none, or opening the database tells what is wrong with it.
    return undefined;
  }
  try {
    const log = Buffer.alloc(fstatSync(file).size);
    return log.subarray(0, readSync(file, log, 0, log.length, 0));
  } finally {
    closeSync(file);
  }
}
