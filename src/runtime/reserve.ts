import { randomBytes } from 'node:crypto';
import { lstatSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Health } from './health.ts';

/** Enough to record some thousand small events: finished work, stopped members. */
const BYTES = 1024 * 1024;

/** The reserve is created only if this much more is free: we must not fill the disk ourselves. */
const SPARE_BYTES = 4 * BYTES;

const LOOK_EVERY_MS = 5_000;

/** Disk space kept for the moment when the disk is full. */
export interface Reserve {
  /** A write failed: frees the reserve if the disk is full. */
  failed(): void;
  /** Takes the space again if there is enough. */
  restore(): void;
  /** From now on reports when the reserve is in use. */
  tell(health: Health): void;
  close(): void;
}

/**
 * Keeps a file of 1 MiB and deletes it when the disk is full. So the daemon can still start, record what ends and
 * report the problem. Only the daemon that holds the lock may open it.
 */
export function openReserve(path: string): Reserve {
  let health: Health | undefined;
  const found = lstatSync(path, { throwIfNoEntry: false });
  let isHeld = found?.isFile() === true && found.size === BYTES;
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

  /** Without a reserve everything works, until the disk is full. */
  function abandon(error: unknown): void {
    try {
      rmSync(path, { force: true });
    } catch {
      // Something of another kind is in its place, which may be somebody's.
    }
    health?.raise(
      'reserve',
      `${path} cannot be written, so nothing is kept for a full disk: ${(error as Error).message}`,
    );
  }

  function isShort(): boolean {
    return isHeld && freeBytes(path) < BYTES;
  }

  function spend(): void {
    try {
      rmSync(path, { force: true });
    } catch {
      // A read-only disk gains nothing from it.
      return;
    }
    isHeld = false;
    isSpent = true;
    raise();
  }

  function raise(): void {
    const what = `the disk is full: ${dirname(path)} now uses its reserve of 1 MiB. Free some space`;
    health?.raise('disk', what);
  }

  function restore(): void {
    if (isHeld || freeBytes(path) < BYTES + SPARE_BYTES) return;
    try {
      rmSync(path, { force: true });
      // Random data: some disks store zeros without using space.
      writeFileSync(path, randomBytes(BYTES), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      abandon(error);
      return;
    }
    isHeld = true;
    isSpent = false;
    health?.clear('disk');
    health?.clear('reserve');
  }
}

/** The space left for users other than root; Infinity if unknown. */
function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
