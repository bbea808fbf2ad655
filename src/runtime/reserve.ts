import { randomBytes } from 'node:crypto';
import { lstatSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Health } from './health.ts';

/** Enough to record some thousand small steps: that work has ended, that members have stopped. */
const BYTES = 1024 * 1024;

/** The room is taken only where so much is left besides: it must not be us who fill the disk. */
const SPARE_BYTES = 4 * BYTES;

const LOOK_EVERY_MS = 5_000;

/** Room on the disk that is kept for the moment when there is no other. */
export interface Reserve {
  /** Something could not be written: where that is for want of room, gives it free. */
  failed(): void;
  /** Takes the room again where there is enough of it. */
  restore(): void;
  /** From now on says when the room is given free. */
  tell(health: Health): void;
  close(): void;
}

/**
 * Keeps a file of 1 MiB and deletes it when the disk is full, so that the daemon can start there, record what ends and
 * say what is wrong. Only the daemon that holds the lock may open it.
 */
export function openReserve(path: string): Reserve {
  let health: Health | undefined;
  let isHeld = lstatSync(path, { throwIfNoEntry: false })?.size === BYTES;
  let isSpent = false;
  if (isShort()) spend();
  const timer = setInterval(restore, LOOK_EVERY_MS).unref();

  return {
    failed() {
      if (isShort()) spend();
    },
    restore,
    tell(to) {
      health = to;
      if (isSpent) raise();
    },
    close: () => clearInterval(timer),
  };

  function isShort(): boolean {
    return isHeld && freeBytes(path) < BYTES;
  }

  function spend(): void {
    try {
      rmSync(path, { force: true });
    } catch {
      // A disk that can only be read is not helped by it.
      return;
    }
    isHeld = false;
    isSpent = true;
    raise();
  }

  function raise(): void {
    const what = `the disk is full: of ${dirname(path)} the reserve of 1 MiB is in use. Free some space`;
    health?.raise('disk', what);
  }

  function restore(): void {
    if (isHeld || freeBytes(path) < BYTES + SPARE_BYTES) return;
    try {
      rmSync(path, { force: true });
      // Random: there are disks on which zeros take no room.
      writeFileSync(path, randomBytes(BYTES), { mode: 0o600, flag: 'wx' });
    } catch {
      rmSync(path, { force: true });
      return;
    }
    isHeld = true;
    isSpent = false;
    health?.clear('disk');
  }
}

/** What is left for users other than root; everything, where that cannot be known. */
function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
