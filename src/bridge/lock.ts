import { lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TeamError } from '../core/errors.ts';

/** The age at which Claude Code considers a lock stale. */
const STALE_MS = 10_000;

/**
 * A live holder touches its lock twice in `STALE_MS`. A holder that did not for longer than this while we watched is
 * gone, whatever the clock says.
 */
const SILENT_MS = 6_000;

/** How long we wait for a live holder. */
const PATIENCE_MS = 5_000;

/** How long we wait for a holder that may be dead: its lock must become stale first. */
const LONGEST_MS = 13_000;

/** No live holder keeps a lock this long. */
const LEFT_MS = 500;

/** The pauses between attempts are Claude Code's own, so that neither side starves the other. */
const PAUSES = [5, 10, 20, 40, 80, 100];

/** Waiting times for a file. Tests change them, and so do callers that prefer to retry later. */
export interface LockOptions {
  /** How long a file may look half written. */
  readonly settle?: number;
  /** Timeouts for the lock of a live holder, and of one that may be dead. */
  readonly patience?: number;
  readonly longest?: number;
  /** When an unchanged lock that we watch counts as stale: `silent` for an old one, `stale` for any. */
  readonly silent?: number;
  readonly stale?: number;
  /** A monotonic clock. */
  readonly now?: () => number;
}

/** The names of locks that were renamed for removal. */
export const TOMBSTONE = /\.lock\.stale\.\d+\.\d+$/;

/**
 * Runs `work` while holding Claude Code's own lock beside a file: a directory `FILE.lock`, created to take it and
 * removed to release it. The work is synchronous: a version still in use loses a message when it finds an inbox locked,
 * so nothing may be awaited in between. The lock is only a courtesy; the journal decides what must be right.
 */
export async function underLock<R>(path: string, work: () => R, options: LockOptions = {}): Promise<R> {
  const lock = `${path}.lock`;
  for (;;) {
    const mine = take(lock) ?? (await wait(lock, options));
    if (mine === undefined) continue;
    try {
      return work();
    } finally {
      giveBack(lock, mine);
    }
  }
}

/**
 * Removes locks of killed programs: those that nobody released while we watched, although holding one takes
 * milliseconds. Otherwise others would wait ten seconds for them, and the oldest version loses messages that it sends
 * meanwhile.
 */
export async function clearLeftLocks(files: readonly string[], silent = LEFT_MS): Promise<void> {
  const left = files.flatMap((file) => {
    const lock = `${file}.lock`;
    const found = look(lock);
    return found?.isDirectory() ? [{ lock, found }] : [];
  });
  if (left.length === 0) return;
  await sleep(silent);
  for (const { lock, found } of left) {
    const now = look(lock);
    if (isSame(now, found) && !filled(lock)) bury(lock, found);
  }
}

/** Whether waiting for the lock beside a file is useless now: it is fresh, or not a lock at all. */
export function isHeld(path: string): boolean {
  const lock = `${path}.lock`;
  const found = look(lock);
  if (!found) return false;
  return !found.isDirectory() || filled(lock) || Date.now() - Number(found.mtimeMs) < STALE_MS;
}

/** When a lock was taken, by both clocks: people can set one, and the other stops while a machine sleeps. */
interface Taken {
  readonly wall: number;
  readonly steady: number;
}

/** A lock held for less than this by both clocks cannot be stale for anyone. */
const SURELY_OURS_MS = STALE_MS / 5;

/** Takes a lock and returns when; undefined if it is held. */
function take(lock: string): Taken | undefined {
  const taken = { wall: Date.now(), steady: performance.now() };
  try {
    // Measured with 2.1.37 and 2.1.325: they ask for 0777 and leave the rest to the umask. Nothing depends on it:
    // taking a lock over needs rights on the directory around it, and only we look inside.
    mkdirSync(lock);
    return taken;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
}

/** Releases a lock that is still ours. One that was taken from us has a new holder and a later time. */
function giveBack(lock: string, { wall, steady }: Taken): void {
  const passed = Date.now() - wall;
  if (passed < 0 || passed > SURELY_OURS_MS || performance.now() - steady > SURELY_OURS_MS) {
    const found = look(lock);
    if (!found || Math.abs(Number(found.mtimeMs) - wall) > SURELY_OURS_MS) return;
  }
  try {
    rmdirSync(lock);
  } catch {
    // Already removed, or something was put into it: not ours any more.
  }
}

/** Retries, and removes a stale lock. */
async function wait(lock: string, options: LockOptions): Promise<Taken | undefined> {
  const { patience = PATIENCE_MS, longest = LONGEST_MS, silent = SILENT_MS, stale = STALE_MS } = options;
  const steady = options.now ?? (() => performance.now());
  const start = steady();
  let seen = '';
  let seenAt = start;
  let lives = false;
  for (let attempt = 0; ; attempt++) {
    const found = look(lock);
    if (found) {
      requirePlain(lock, found);
      const now = `${found.ino}-${found.mtimeNs}`;
      if (now !== seen) {
        lives ||= seen !== '';
        seen = now;
        seenAt = steady();
      }
      const age = Date.now() - Number(found.mtimeMs);
      const watched = steady() - seenAt;
      // A lock that did not change for this long is stale, even if its time is in the future.
      if (watched >= stale || (age >= STALE_MS && watched >= silent)) bury(lock, found);
    }
    const mine = take(lock);
    if (mine !== undefined) return mine;
    const waited = steady() - start;
    if (waited > (lives ? patience : longest)) throw lockedError(lock, waited);
    await sleep(PAUSES[Math.min(attempt, PAUSES.length - 1)]);
  }
}

/**
 * Removes a stale lock. It is first renamed under a lock of its own: a plain removal could hit the new lock of a faster
 * rival. A program that ignores `.steal` may still be faster; then we renamed its lock, and put it back.
 */
function bury(lock: string, left: BigIntStats): void {
  const shovel = `${lock}.steal`;
  try {
    mkdirSync(shovel);
  } catch {
    const other = look(shovel);
    if (other && Date.now() - Number(other.mtimeMs) > STALE_MS) removeEmpty(shovel);
    return;
  }
  try {
    if (!isSame(look(lock), left)) return;
    const tombstone = `${lock}.stale.${process.pid}.${left.ino}`;
    renameSync(lock, tombstone);
    if (isSame(look(tombstone), left)) removeEmpty(tombstone);
    else renameSync(tombstone, lock);
  } catch {
    // Another process was faster.
  } finally {
    removeEmpty(shovel);
  }
}

/** Inode numbers are reused at once: a new lock may have the old one's number, but not its time. */
function isSame(a: BigIntStats | undefined, b: BigIntStats): boolean {
  return a?.ino === b.ino && a.mtimeNs === b.mtimeNs;
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Gone, or not empty: never removed with its content.
  }
}

function requirePlain(lock: string, found: BigIntStats): void {
  const what = found.isSymbolicLink() ? 'a symbolic link' : found.isDirectory() ? undefined : 'a file';
  if (what !== undefined) {
    throw new TeamError('storage', `${lock} is ${what}, not a lock of Claude Code's: check it and remove it`);
  }
  if (filled(lock)) {
    throw new TeamError('storage', `${lock} is not empty, so it is not a lock: check it and remove it`);
  }
}

function filled(path: string): boolean {
  try {
    return readdirSync(path).length > 0;
  } catch {
    return false;
  }
}

function look(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

function lockedError(lock: string, waited: number): TeamError {
  return new TeamError(
    'overloaded',
    `${basename(lock, '.lock')} has been locked by another program for ${Math.round(waited / 1000)} s (${lock}): try again`,
  );
}
