import { closeSync, constants, lstatSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '../agents/process.ts';
import { TeamError } from '../core/errors.ts';
import { DatabaseSync } from '../journal/node-sqlite.ts';
import { readCard } from './card.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;

/** SQLite's result code for a lock that another process holds. */
const BUSY = 5;

/** How long to try while nobody can be named: contenders that only look in are in each other's way for a moment, and a
 *  daemon that ends needs a while for its last snapshots. */
const PATIENCE_MS = 5_000;
const RETRY_MS = 15;
/** Somebody who removes a state directory wants its daemon gone, too. */
const LOOK_EVERY_MS = 2_000;

/** The right to be the daemon of a state directory. */
export interface Lock {
  /** Whether the locked file is still the one at its path; if not, another daemon may lock the new one. */
  isInPlace(): boolean;
  /** Calls back, once, when that is no longer so. */
  onLost(listener: () => void): void;
  release(): void;
}

/** Another process has the lock. */
export class LockedError extends TeamError {
  /** Its holder, where that is known. */
  readonly pid: number | undefined;

  constructor(message: string, pid?: number) {
    super('conflict', message);
    this.name = 'LockedError';
    this.pid = pid;
  }
}

/** Where the lock is, and where its holder says who it is. */
export interface LockPlace {
  readonly lock: string;
  readonly card: string;
}

/**
 * Takes the lock, or throws a `LockedError` that names its holder.
 *
 * The lock is an open transaction on an empty SQLite database, and so a lock of the kernel's: it ends with its process,
 * however that ends, and stays while the process is stopped. Node has no other way to such a lock. With its journal in memory
 * SQLite writes nothing, so kill -9 leaves nothing to recover.
 */
export async function takeLock({ lock, card }: LockPlace): Promise<Lock> {
  const giveUp = performance.now() + PATIENCE_MS;
  for (;;) {
    const taken = tryLock(lock);
    if (taken) return taken;
    const holder = readCard(card);
    if (holder && isRunning(holder)) {
      throw new LockedError(`Process ${holder.pid} is already the daemon of ${dirname(lock)}`, holder.pid);
    }
    if (performance.now() > giveUp) {
      throw new LockedError(`Another process holds ${lock}, and has not said which it is: try again in a moment`);
    }
    await sleep(RETRY_MS * (0.5 + Math.random()));
  }
}

function tryLock(path: string): Lock | undefined {
  const db = open(path);
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if ((error as { errcode?: number }).errcode === BUSY) return undefined;
    throw unusable(path, error);
  }
  const { dev, ino } = statSync(path);
  let timer: NodeJS.Timeout | undefined;
  const lock: Lock = {
    isInPlace() {
      try {
        const now = statSync(path, { throwIfNoEntry: false });
        return now?.dev === dev && now.ino === ino;
      } catch {
        // It cannot be looked at, which does not mean that it is gone.
        return true;
      }
    },
    onLost(listener) {
      timer = setInterval(() => {
        if (lock.isInPlace()) return;
        clearInterval(timer);
        listener();
      }, LOOK_EVERY_MS).unref();
    },
    release() {
      clearInterval(timer);
      db.close();
    },
  };
  return lock;
}

/** Nothing but SQLite may ever close this file in this process: that would end the lock, as POSIX wants it. */
function open(path: string): DatabaseSync {
  try {
    closeSync(openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(path, error);
    if (!lstatSync(path).isFile()) throw unusable(path, new Error('it is no regular file'));
  }
  try {
    return new DatabaseSync(path);
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, cause: unknown): TeamError {
  return new TeamError(
    'storage',
    `${path} cannot be locked (${(cause as Error).message}): check its owner and mode; if it is no lock, remove it`,
    { cause },
  );
}
