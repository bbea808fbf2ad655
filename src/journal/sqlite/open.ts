import { chmodSync, closeSync, constants, fsyncSync, lstatSync, mkdirSync, openSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TeamError } from '../../core/errors.ts';
import type { Seq } from '../journal.ts';
import type { Ends } from '../mark.ts';
import { DatabaseSync } from '../node-sqlite.ts';
import { damagedFile, findDamage, isWorthChecking } from './check.ts';
import { isBusy, isCantOpen, toTeamError } from './errors.ts';
import { requireWholeLog } from './log.ts';
import { isCurrent, migrate } from './migrate.ts';
import { prepareRows, readEnds } from './rows.ts';
import type { Rows } from './rows.ts';

/** How long opening waits for another process that migrates the file or recovers it after a crash. */
const OPEN_PATIENCE_MS = 10_000;
/** An append gives up a locked file after this; the writer retries. A commit takes a tenth of it. */
const BUSY_TIMEOUT_MS = 2;
/** The size of the log when SQLite starts a checkpoint: 1,000 pages, each with a header of 24 bytes. */
const FULL_LOG_BYTES = 1000 * (4096 + 24);
/** With less free space than this, the log is not grown in advance. */
const SPARE_BYTES = 256 * 1024 * 1024;

/** An open journal file, with its statements. */
export interface OpenDatabase {
  readonly db: DatabaseSync;
  readonly rows: Rows;
  /** The damage of the file, if any; teams may still be readable. */
  readonly damage: string | undefined;
  /** The last batch of each team, for the owner of a file without damage. */
  readonly ends?: Ends<Seq> | undefined;
}

/**
 * Opens a journal's file, creates it if it is missing, and migrates it to this version's schema. Only its owner may know
 * every batch, so only for the owner the ends of the teams are read.
 */
export function openDatabase(path: string, { owns = false } = {}): OpenDatabase {
  try {
    create(path);
    requireWhole(path);
    return openExisting(path, owns);
  } catch (error) {
    throw toTeamError(error, path, 'open the journal');
  }
}

/**
 * Refuses a file that is no journal of this version, before anything is created beside it. Other obstacles are left for
 * opening to report. A read-only open may leave SQLite's own files behind; a read-write open writes nothing and removes
 * them.
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

/** Checks the whole of a file that `refuseForeign` accepted; returns its damage, if any. Writes nothing. */
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

/** SQLite takes an empty file for new and removes the log beside it. A really new file has no log. */
function requireWhole(path: string): void {
  if (!hasLog(path)) return;
  if (sizeOf(path) > 0) return requireWholeLog(path);
  throw new TeamError(
    'corrupt',
    `${path} is empty, and its log ${path}-wal is not. Restore both from copies, or move both away to start over; nothing was changed.`,
  );
}

function openExisting(path: string, owns: boolean): OpenDatabase {
  const wasClosed = !hasLog(path);
  const db = new DatabaseSync(path);
  try {
    db.exec(`PRAGMA busy_timeout = ${OPEN_PATIENCE_MS}; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON`);
    // Before anything is written: a newer version may have written the file, or another program.
    isCurrent(db, path);
    closeToOthers(path);
    useLog(db);
    migrate(db, path);
    // FULL: a commit is on disk when it returns. With NORMAL, a power failure can lose acknowledged commits.
    db.exec(`PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const damage = findDamage(db, { whole: isWorthChecking(path, { wasClosed }), ends: owns });
    const ends = owns && damage === undefined ? readEnds(db) : undefined;
    if (damage === undefined) growLog(db, path);
    return { db, rows: prepareRows(db, path), damage, ends };
  } catch (error) {
    db.close();
    if (isCantOpen(error) && !hasLog(path)) return openUnchanging(path);
    throw error;
  }
}

/**
 * Opens a database in a folder where nothing can be created. SQLite cannot create its shared memory file there. Neither
 * can other processes, so the file is read as immutable. Not if there is a log: its content would be missed.
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

/** Two processes that create the file at the same time may collide here, and SQLite does not wait then. */
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
 * Grows the log to its full size, so that a commit overwrites it instead of extending it. Until the first checkpoint,
 * one append in flight goes from 0.45 to 0.78 times bare fdatasync appends; opening takes 8 ms longer. The data written
 * here is larger than the cache and spills into the log, then it is rolled back.
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
    // This only affects speed: the file may be read-only, or another process is writing.
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

/** Removes other users' access to a file that came from elsewhere, once it is known to be ours. */
function closeToOthers(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      chmodSync(file, lstatSync(file).mode & 0o700);
    } catch {
      // It is missing, another user's, or read-only: it is used as it is.
    }
  }
}

/**
 * Creates the file if it is missing. SQLite gives its log and shared memory the database's mode, so set the mode before
 * SQLite opens the file.
 */
function create(path: string): void {
  const folder = dirname(path);
  const topmost = mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { O_CREAT, O_EXCL, O_RDWR } = constants;
  try {
    closeSync(openSync(path, O_CREAT | O_EXCL | O_RDWR, 0o600));
  } catch (error) {
    // A file that is there is not opened: closing it would release SQLite's locks in this process.
    if (isThere(path)) return;
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
