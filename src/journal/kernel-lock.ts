import { closeSync, constants, copyFileSync, lstatSync, openSync, statSync, truncateSync } from 'node:fs';
import { DatabaseSync } from './node-sqlite.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;

/** SQLite's result codes for a lock that another holds. */
const BUSY = [5, 6];
const NOT_A_DATABASE = 26;

/** A lock that ends with its process, however that ends, and remains while the process is suspended. */
export interface KernelLock {
  /** Whether the locked file is still the one at its path; if not, another process may lock the new one. */
  isInPlace(): boolean;
  release(): void;
}

/** Options of a lock. */
export interface KernelLockOptions {
  /** Shared with other holders; by default exclusive. */
  readonly shared?: boolean;
  /** How long to wait for another process, in milliseconds. This blocks the event loop. */
  readonly patienceMs?: number;
}

/**
 * Takes the lock, or returns undefined if another process has it. The lock is an open transaction on an empty SQLite
 * database, because Node offers no other kernel lock. SQLite keeps its rollback journal in memory and writes nothing,
 * so kill -9 leaves nothing to recover.
 *
 * Throws the system's error if the file cannot be created or used. Only SQLite may ever close this file in this
 * process: under POSIX, closing it anywhere would release the lock.
 */
export function tryKernelLock(path: string, options: KernelLockOptions = {}): KernelLock | undefined {
  const { shared = false, patienceMs = 0 } = options;
  makeFile(path);
  const db = new DatabaseSync(path);
  try {
    db.exec(`PRAGMA busy_timeout = ${patienceMs}; PRAGMA journal_mode = MEMORY`);
    db.exec(shared ? 'BEGIN; SELECT count(*) FROM sqlite_schema' : 'BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    const { errcode = 0 } = error as { errcode?: number };
    if (BUSY.includes(errcode)) return undefined;
    if (errcode !== NOT_A_DATABASE) throw error;
    // Somebody wrote into the file, which is always empty. Nobody holds the lock: SQLite looks at the content after it.
    empty(path);
    return tryKernelLock(path, options);
  }
  const { dev, ino } = statSync(path);
  return {
    isInPlace() {
      try {
        const now = statSync(path, { throwIfNoEntry: false });
        return now?.dev === dev && now.ino === ino;
      } catch {
        // A failed stat does not mean that the file is gone.
        return true;
      }
    },
    release: () => db.close(),
  };
}

/** Keeps the content in a copy. The file itself stays: another process may lock it at this moment. */
function empty(path: string): void {
  try {
    copyFileSync(path, `${path}.moved`, constants.COPYFILE_EXCL);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  truncateSync(path);
}

function makeFile(path: string): void {
  try {
    closeSync(openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!lstatSync(path).isFile()) throw new Error('it is not a regular file', { cause: error });
  }
}
