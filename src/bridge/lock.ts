import { lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TeamError } from '../core/errors.ts';

/** The age at which the program takes a lock for left behind. */
export const STALE_MS = 10_000;

/**
 * A holder that lives touches its lock twice in `STALE_MS`; one that did not for longer than this while we looked is gone, whatever the
 * clock says.
 */
const SILENT_MS = 6_000;

/** How long we wait for a holder that lives. */
const PATIENCE_MS = 5_000;

/** How long for one that may be dead: its lock has to get old first. */
const LONGEST_MS = 13_000;

/** So long nobody holds a lock who lives. */
const LEFT_MS = 500;

/** The pauses between attempts are those of the program, so that neither side starves the other. */
const PAUSES = [5, 10, 20, 40, 80, 100];

/** How waiting for a file may be changed, by tests and by those who rather come back later. */
export interface LockOptions {
  /** How long it may look half written before that is what it is. */
  readonly settle?: number;
  /** For the lock of a holder that lives, and of one that may not. */
  readonly patience?: number;
  readonly longest?: number;
  /** When a lock is taken for left behind that stands still before our eyes: an old one, and any. */
  readonly silent?: number;
  readonly stale?: number;
  /** The steady clock. */
  readonly now?: () => number;
}

/** The names of locks that were moved aside to be removed. */
export const TOMBSTONE = /\.lock\.stale\.\d+\.\d+$/;

/**
 * Does something while holding the program's own lock beside a file: a directory `FILE.lock`, made to take it and removed to
 * give it back. The work is synchronous: a version that is still in use loses a message when it finds an inbox locked, so
 * nothing may be waited for in between. The lock is politeness; what must be right is decided by the journal.
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
 * Removes locks that a program left when it was ended: one that nobody gave back while we looked, though holding it takes
 * milliseconds. Without this, others would wait for them ten seconds, and the oldest version loses what it sends meanwhile.
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

/** Whether whoever wants the lock beside a file would wait for it in vain now: it is fresh, or is no lock at all. */
export function isHeld(path: string): boolean {
  const lock = `${path}.lock`;
  const found = look(lock);
  if (!found) return false;
  return !found.isDirectory() || filled(lock) || Date.now() - Number(found.mtimeMs) < STALE_MS;
}

/** When a lock was taken, by both clocks: one may be set, the other does not see a machine asleep. */
interface Taken {
  readonly wall: number;
  readonly steady: number;
}

/** A lock that was held for less than this by both clocks cannot have become old for anybody. */
const SURELY_OURS_MS = STALE_MS / 5;

/** When it was taken, or nothing if somebody holds it. */
function take(lock: string): Taken | undefined {
  const taken = { wall: Date.now(), steady: performance.now() };
  try {
    // Measured with 2.1.37 and 2.1.325: they ask for 0777 and leave the rest to the umask. Nothing depends on it: to take a lock
    // over needs rights on the directory around it, and nobody looks inside but us.
    mkdirSync(lock);
    return taken;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
}

/** Only what is still ours: one that was taken from us belongs to somebody else now, and was made later. */
function giveBack(lock: string, { wall, steady }: Taken): void {
  const passed = Date.now() - wall;
  if (passed < 0 || passed > SURELY_OURS_MS || performance.now() - steady > SURELY_OURS_MS) {
    const found = look(lock);
    if (!found || Math.abs(Number(found.mtimeMs) - wall) > SURELY_OURS_MS) return;
  }
  try {
    rmdirSync(lock);
  } catch {
    // Removed in between, or somebody put something into it: then it is no longer ours to judge.
  }
}

/** Tries again and again; removes a lock that was left behind. */
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
      // One that stood still for so long before our eyes is old even if its time is still to come.
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
 * Removes a lock that was left behind: moved aside under a lock of its own first, because a plain removal could hit the one that a
 * faster rival has made in its place. Who does not know of that lock may still be faster: then theirs was moved, and is put back.
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
    // Somebody else was faster.
  } finally {
    removeEmpty(shovel);
  }
}

/** Numbers of directories are given out again at once: a new lock may have that of the old one, but not its time. */
function isSame(a: BigIntStats | undefined, b: BigIntStats): boolean {
  return a?.ino === b.ino && a.mtimeNs === b.mtimeNs;
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Gone, or not empty: never removed with what is in it.
  }
}

function requirePlain(lock: string, found: BigIntStats): void {
  const what = found.isSymbolicLink() ? 'a symbolic link' : found.isDirectory() ? undefined : 'a file';
  if (what !== undefined) {
    throw new TeamError('storage', `${lock} is ${what}, not a lock of Claude Code's: look at it and remove it`);
  }
  if (filled(lock)) {
    throw new TeamError('storage', `${lock} has something in it, so it is no lock: look at it and remove it`);
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
