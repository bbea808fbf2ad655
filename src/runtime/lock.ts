import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '../agents/process.ts';
import { jitter } from '../core/back-off.ts';
import { TeamError } from '../core/errors.ts';
import { tryKernelLock } from '../journal/kernel-lock.ts';
import type { KernelLock } from '../journal/kernel-lock.ts';
import { readCard } from './card.ts';

/**
 * How long to try while the holder is unknown. Contenders block each other for a moment, and a daemon that ends needs
 * time for its last snapshots.
 */
const PATIENCE_MS = 5_000;
const RETRY_MS = 15;
/** How often to check the lock file: someone who removes a state directory wants its daemon gone too. */
const LOOK_EVERY_MS = 2_000;

/** The right to be the daemon of a state directory. */
export interface Lock {
  /** Whether the locked file is still the one at its path; if not, another daemon may lock the new one. */
  isInPlace(): boolean;
  /** Calls the listener once, when that is no longer so. */
  onLost(listener: () => void): void;
  release(): void;
}

/** Another process has the lock. */
export class LockedError extends TeamError {
  /** Its holder, if known. */
  readonly pid: number | undefined;

  constructor(message: string, pid?: number) {
    super('conflict', message);
    this.name = 'LockedError';
    this.pid = pid;
  }
}

/** The paths of the lock and of its holder's card. */
export interface LockPlace {
  readonly lock: string;
  readonly card: string;
}

/** Takes the lock, or throws a `LockedError` that names its holder. */
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
      throw new LockedError(`An unknown process holds ${lock}: try again in a moment`);
    }
    await sleep(jitter(RETRY_MS, Math.random()));
  }
}

function tryLock(path: string): Lock | undefined {
  const held = lockFile(path);
  if (!held) return undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    isInPlace: () => held.isInPlace(),
    onLost(listener) {
      timer = setInterval(() => {
        if (held.isInPlace()) return;
        clearInterval(timer);
        listener();
      }, LOOK_EVERY_MS).unref();
    },
    release() {
      clearInterval(timer);
      held.release();
    },
  };
}

function lockFile(path: string): KernelLock | undefined {
  try {
    return tryKernelLock(path);
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, cause: unknown): TeamError {
  return new TeamError(
    'storage',
    `${path} cannot be locked (${(cause as Error).message}): check its owner and mode; if it is not a lock, remove it`,
    { cause },
  );
}
