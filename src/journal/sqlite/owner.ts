import { existsSync, lstatSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { TeamError } from '../../core/errors.ts';
import { tryKernelLock } from '../kernel-lock.ts';
import type { KernelLock } from '../kernel-lock.ts';
import { toTeamError } from './errors.ts';

/** A process that checks whether it may write holds the lock briefly. One that is closing needs a moment too. */
const PATIENCE_MS = 1_000;
/** The fallback for the watch on the locked file. */
const LOOK_EVERY_MS = 1_000;
/** Removing a whole folder takes less than this, even on a busy machine. A file created earlier would be in the way. */
const MOMENT_MS = 250;

/** The right to write a journal's file, while it is held. */
export interface Ownership {
  /** Why it was lost: someone removed the locked file, and another process locked a new one and writes. */
  readonly lost: TeamError | undefined;
  /** Lets the owner notice that others have written: `version` changes then. Without this it only holds the lock. */
  compare(version: () => unknown): void;
  release(): void;
}

/** The file that writers of a journal's file lock. */
export const ownerOf = (path: string): string => `${path}.owner`;

/**
 * Takes the right to write: exclusive, or shared with others. An exclusive owner does not announce its commits and does
 * not look for those of others, so a second writer must be refused.
 *
 * The kernel holds the lock, as it does for a state directory, and releases it with the process. What is locked is an
 * empty database beside the file. Reading needs no lock. If that database cannot be created, nobody can write either.
 * If someone removes it, other processes could write. So it is watched, and the file in its place is locked too, after
 * a moment; a check at each commit would cost a tenth of a commit. If the journal is gone too, there is nothing to
 * protect.
 */
export function takeOwnership(path: string, { alone }: { alone: boolean }): Ownership {
  const file = ownerOf(path);
  let held: KernelLock | undefined;
  try {
    held = lock(path, { alone, patienceMs: alone ? PATIENCE_MS : 0 });
  } catch (error) {
    // If it cannot be created, nobody can write either.
    if (!(error instanceof TeamError) && !isThere(file)) return { lost: undefined, compare() {}, release() {} };
    throw toTeamError(error, file, 'take the lock');
  }
  let lost: TeamError | undefined;
  let version = (): unknown => undefined;
  let seen: unknown;
  let missingSince: number | undefined;
  let watcher = watchFile(file, look);
  const timer = setInterval(look, LOOK_EVERY_MS).unref();

  function look(): void {
    if (lost || !held) return;
    if (held.isInPlace()) {
      missingSince = undefined;
      seen = version();
      return;
    }
    missingSince ??= performance.now();
    if (performance.now() - missingSince < MOMENT_MS) setTimeout(look, MOMENT_MS).unref();
    else if (existsSync(path)) lost = takeAnew(held);
  }

  /** Locks the new file; returns an error if others were first. Retries if something temporary is in the way. */
  function takeAnew(before: KernelLock): TeamError | undefined {
    try {
      const next = lock(path, { alone, patienceMs: 0 });
      before.release();
      held = next;
    } catch (error) {
      return error instanceof TeamError ? intruded(path) : undefined;
    }
    watcher?.close();
    watcher = watchFile(file, look);
    return version() === seen ? undefined : intruded(path);
  }

  return {
    get lost() {
      return lost;
    },
    compare(ask) {
      version = ask;
      seen = version();
    },
    release() {
      clearInterval(timer);
      watcher?.close();
      held?.release();
      held = undefined;
    },
  };
}

/** Throws a `TeamError` if another process has the lock, and the system's error if its file cannot be created or used. */
function lock(path: string, { alone, patienceMs }: { alone: boolean; patienceMs: number }): KernelLock {
  const held = tryKernelLock(ownerOf(path), { shared: !alone, patienceMs });
  if (held) return held;
  throw new TeamError(
    'storage',
    alone
      ? `Another process writes to ${path}, and only one may: end it first (a daemon: troupe stop)`
      : `Only one process may write to ${path}, and that one is running: use it (a daemon: with troupe), or end it first (troupe stop)`,
  );
}

/** Whether anything is at this path, even a dangling link. */
function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function intruded(path: string): TeamError {
  return new TeamError(
    'storage',
    `Somebody removed ${ownerOf(path)}, and another process wrote to ${path}: this process writes nothing more. End the other one, then open the journal again (troupe stop).`,
  );
}

/** Returns undefined if no watches are left: then the owner polls. */
function watchFile(file: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(file, { persistent: false }, onChange).on('error', () => {});
  } catch {
    return undefined;
  }
}
