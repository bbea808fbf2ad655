import { closeSync, constants, lstatSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from './node-sqlite.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;

/** SQLite's result codes for a lock that another holds. */
const BUSY = [5, 6];

/** A lock that ends with its process, however that ends, and stays while the process is stopped. */
export interface KernelLock {
  /** Whether the locked file is still the one at its path; if not, another process may lock the new one. */
  isInPlace(): boolean;
  release(): void;
}

/** How a file is locked. */
export interface KernelLockOptions {
  /** Together with others that share it; by default alone. */
  readonly shared?: boolean;
  /** How long to wait for another process, in milliseconds. The event loop stands still meanwhile. */
  readonly patienceMs?: number;
}

/**
 * Takes the lock, or gives undefined where another process has it. The lock is an open transaction on an empty SQLite database: Node has
 * no other way to a lock of the kernel's. With its journal in memory SQLite writes nothing, so kill -9 leaves nothing to recover.
 *
 * Throws what the system says where the file cannot be made or used. Nothing but SQLite may ever close this file in this process: that
 * would end the lock, as POSIX wants it.
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
    if (BUSY.includes((error as { errcode?: number }).errcode ?? 0)) return undefined;
    throw error;
  }
  const { dev, ino } = statSync(path);
  return {
    isInPlace() {
      try {
        const now = statSync(path, { throwIfNoEntry: false });
        return now?.dev === dev && now.ino === ino;
      } catch {
        // It cannot be looked at, which does not mean that it is gone.
        return true;
      }
    },
    release: () => db.close(),
  };
}

function makeFile(path: string): void {
  try {
    closeSync(openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!lstatSync(path).isFile()) throw new Error('it is no regular file', { cause: error });
  }
}
