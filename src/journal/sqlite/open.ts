import { chmodSync, closeSync, constants, fsyncSync, lstatSync, mkdirSync, openSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TeamError } from '../../core/errors.ts';
import { DatabaseSync } from '../node-sqlite.ts';
import { damagedFile, findDamage, isWorthChecking } from './check.ts';
import { isBusy, isCantOpen, toTeamError } from './errors.ts';
import { requireWholeLog } from './log.ts';
import { isCurrent, migrate } from './migrate.ts';
import { prepareRows } from './rows.ts';
import type { Rows } from './rows.ts';

/** How long opening waits for another process, which may be migrating the file or recovering it after a crash. */
const OPEN_PATIENCE_MS = 10_000;
/** An append that finds the file locked gives way after this; a commit takes a tenth of it. The writer tries again. */
const BUSY_TIMEOUT_MS = 2;
/** What the log holds when SQLite empties it into the database: 1,000 pages, each with a header of 24 bytes. */
const FULL_LOG_BYTES = 1000 * (4096 + 24);
/** With less room than this the log is left to grow as it must. */
const SPARE_BYTES = 256 * 1024 * 1024;

/** A journal's file, open, with everything that can be said to it. */
export interface OpenDatabase {
  readonly db: DatabaseSync;
  readonly rows: Rows;
  /** What is wrong with the file, where something is; teams may still be read. */
  readonly damage: string | undefined;
}

/** Opens a journal's file, creates it if it is not there, and brings it to this version's schema. */
export function openDatabase(path: string): OpenDatabase {
  try {
    if (!isThere(path)) create(path);
    requireWhole(path);
    return openExisting(path);
  } catch (error) {
    throw toTeamError(error, path, 'open the journal');
  }
}

/**
 * Refuses a file that is no journal of this version's, before anything is put beside it. What only stands in the way, opening tells. To
 * read alone may leave SQLite's own files there; to open it for more writes nothing, and takes them away.
 */
export function refuseForeign(path: string, { readOnly = false } = {}): void {
  try {
    if (!isThere(path)) return;
    requireWhole(path);
    const db = new DatabaseSync(path, { readOnly });
    try {
      isCurrent(db, path);
    } finally {
      db.close();
    }
  } catch (error) {
    const refusal = toTeamError(error, path, 'open the journal');
    if (!(refusal instanceof TeamError) || refusal.code !== 'storage') throw refusal;
  }
}

/** Looks all of a file through that `refuseForeign` let pass; what is wrong with it, if anything. Nothing is written. */
export function inspectFile(path: string): TeamError | undefined {
  if (sizeOf(path) === 0) return undefined;
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const damage = findDamage(db, { whole: true });
    return damage === undefined ? undefined : damagedFile(path, damage);
  } finally {
    db.close();
  }
}

/** SQLite takes an empty file for a new one, and removes the log beside it: what is in there would be lost. A new one has no log yet. */
function requireWhole(path: string): void {
  if (!hasLog(path)) return;
  if (sizeOf(path) > 0) return requireWholeLog(path);
  throw new TeamError(
    'corrupt',
    `${path} is empty, and its log ${path}-wal is not. Put copies of both back, or move both away to begin anew; nothing was touched.`,
  );
}

function openExisting(path: string): OpenDatabase {
  const wasClosed = !hasLog(path);
  const db = new DatabaseSync(path);
  try {
    db.exec(`PRAGMA busy_timeout = ${OPEN_PATIENCE_MS}; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON`);
    // Before anything is written: the file may be a newer one, or not ours.
    isCurrent(db, path);
    closeToOthers(path);
    useLog(db);
    migrate(db, path);
    // FULL: a commit is on the disk when it returns. With NORMAL, a power failure takes what was acknowledged.
    db.exec(`PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const damage = findDamage(db, { whole: isWorthChecking(path, { wasClosed }) });
    if (damage === undefined) growLog(db, path);
    return { db, rows: prepareRows(db, path), damage };
  } catch (error) {
    db.close();
    if (isCantOpen(error) && !hasLog(path)) return openUnchanging(path);
    throw error;
  }
}

/**
 * A database in a folder where nothing can be created: SQLite cannot make the memory it shares with other processes there.
 * Nor can they, so the file is read as one that does not change. With a log beside it, what is in the log would be missed.
 */
function openUnchanging(path: string): OpenDatabase {
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  const db = new DatabaseSync(url);
  try {
    isCurrent(db, path);
    const damage = findDamage(db, { whole: isWorthChecking(path, { wasClosed: true }) });
    return { db, rows: prepareRows(db, path), damage };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Two processes that create the file at once can get in each other's way here, and SQLite then does not wait. */
function useLog(db: DatabaseSync): void {
  const deadline = Date.now() + OPEN_PATIENCE_MS;
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/**
 * Makes the log as large as it will get, so that a commit overwrites it and need not extend it: until the first checkpoint one
 * append in flight goes from 0.45 to 0.78 times bare fdatasync appends, for 8 ms more to open. What is written here spills
 * into the log, because the cache is too small for it, and is then rolled back.
 */
function growLog(db: DatabaseSync, path: string): void {
  try {
    const { bavail, bsize } = statfsSync(path);
    if (bavail * bsize < SPARE_BYTES || sizeOf(`${path}-wal`) >= FULL_LOG_BYTES) return;
    db.exec('PRAGMA cache_size = 10; BEGIN IMMEDIATE');
    try {
      db.exec(`CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(${FULL_LOG_BYTES}))`);
    } finally {
      db.exec('ROLLBACK');
    }
    syncFile(`${path}-wal`);
  } catch {
    // Only speed was to be had: the file may be read-only, or another process is writing.
  } finally {
    db.exec('PRAGMA cache_size = -2000');
  }
}

/** Whether the file exists; throws if it is no regular file. */
function isThere(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  if (!stat.isFile()) {
    const what = stat.isSymbolicLink() ? 'a symbolic link' : 'not a regular file';
    throw new TeamError('corrupt', `${path} is ${what}. Give the path of the journal's own file.`);
  }
  return true;
}

/** For a file that came from elsewhere, and only once it is known to be ours. */
function closeToOthers(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = lstatSync(file, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o077) === 0) continue;
    try {
      chmodSync(file, mode & 0o700);
    } catch {
      // Somebody else's file, or one that can only be read: it is used as it is.
    }
  }
}

/** SQLite gives its log and shared memory the mode of the database, so the mode is right before SQLite sees the file. */
function create(path: string): void {
  const folder = dirname(path);
  const topmost = mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { O_CREAT, O_EXCL, O_RDWR } = constants;
  try {
    closeSync(openSync(path, O_CREAT | O_EXCL | O_RDWR, 0o600));
  } catch (error) {
    // Another process was first. The file is not opened again: closing it would release SQLite's locks in this process.
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST' && isThere(path)) return;
    throw error;
  }
  syncFile(folder);
  if (topmost !== undefined) syncFile(dirname(topmost));
}

function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function hasLog(path: string): boolean {
  return sizeOf(`${path}-wal`) > 0;
}

function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
