import { TeamError } from '../../core/errors.ts';

/** The primary result codes of SQLite that we tell apart: https://sqlite.org/rescode.html */
const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;
/** An extended code: there is no file for the log, and none can be created. */
const READONLY_DIRECTORY = READONLY | (6 << 8);

/** Another connection holds the lock; the same call may work a moment later. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
}

/**
 * The file exists but cannot be opened, or nothing can be written beside it. Both mean a directory in which nothing can
 * be created: the first on a read-only mount, the second without write permission.
 */
export function isCantOpen(error: unknown): boolean {
  return resultCode(error) === CANTOPEN || extendedCode(error) === READONLY_DIRECTORY;
}

/** The disk is full or failed: the data may have been written in part, or completely. */
export function isFailedWrite(error: unknown): boolean {
  const code = resultCode(error);
  return code === FULL || code === IOERR;
}

/** Stored data cannot be read. */
export function isCorrupt(error: unknown): boolean {
  const code = resultCode(error);
  return code === CORRUPT || code === NOTADB;
}

/** Says what SQLite or the file system refused, for which file, and what to do. Other errors stay as they are. */
export function toTeamError(error: unknown, path: string, doing: string): unknown {
  if (error instanceof TeamError) return error;
  const code = resultCode(error);
  const { code: errno, message } = Object(error) as { code?: unknown; message?: unknown };
  const fail = (kind: 'storage' | 'corrupt', why: string) =>
    new TeamError(kind, `Cannot ${doing} in ${path}: ${why}`, { cause: error });

  const isDamaged =
    code === CORRUPT || code === NOTADB || (code === ERROR && /^no such (table|column)/.test(String(message)));
  // Node cannot read an integer that does not fit a double; we write none.
  if (isDamaged || errno === 'ERR_OUT_OF_RANGE') {
    return fail('corrupt', 'the file is damaged or no journal. Restore it from a copy; nothing was written to it.');
  }
  if (code === FULL || errno === 'ENOSPC' || errno === 'EDQUOT') {
    return fail('storage', 'the disk is full. Free some space and try again; nothing was changed.');
  }
  if (code === BUSY || code === LOCKED) {
    return fail('storage', 'another process holds the file. See which one has it open, and try again.');
  }
  if (code === READONLY || errno === 'EROFS' || errno === 'EACCES' || errno === 'EPERM') {
    return fail('storage', 'it is read-only. Check the owner and mode of the file, its folder and its mount.');
  }
  if (code === IOERR) {
    return fail('storage', 'the disk reported an error. Check it before going on; nothing was changed.');
  }
  if (code === undefined && typeof errno !== 'string') return error;
  return fail('storage', `${String(message)}.`);
}

function resultCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  // The extended codes carry the primary one in the low byte.
  return code === undefined ? undefined : code & 0xff;
}

function extendedCode(error: unknown): number | undefined {
  const { errcode } = Object(error) as { errcode?: unknown };
  return typeof errcode === 'number' ? errcode : undefined;
}
