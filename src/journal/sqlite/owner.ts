import { existsSync, lstatSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { TeamError } from '../../core/errors.ts';
import { tryKernelLock } from '../kernel-lock.ts';
import type { KernelLock } from '../kernel-lock.ts';

/** Who asks whether it may write looks in for a moment; one that is being closed needs a moment, too. */
const PATIENCE_MS = 1_000;
/** The net below the watch on the file that is locked. */
const LOOK_EVERY_MS = 1_000;
/** Whoever removes the whole folder is done within this, on a busy machine too, and would find a new file in it otherwise. */
const MOMENT_MS = 250;

/** The right to write a journal's file, for as long as it is held. */
export interface Ownership {
  /** Why it is over: somebody removed what is locked, and others who lock the new one write. */
  readonly lost: TeamError | undefined;
  /** Tells when others have written: `version` changes with it. Without this, what is locked is only held on to. */
  compare(version: () => unknown): void;
  release(): void;
}

/** What is locked by those who may write a journal's file. */
export const ownerOf = (path: string): string => `${path}.owner`;

/**
 * Takes the right to write: alone, or together with others who share it. An owner that is alone tells nobody of its commits and looks for
 * nobody's: a second writer would be overlooked, and has to hear so. As with the lock of a state directory, it is the kernel that
 * holds it, in an empty database beside the file, and lets go with the process. Reading needs none. Where that database cannot be made, nobody
 * can write either. Whoever removes it lets others in: so it is watched, and the one in its place is locked as well, after a moment; to look at
 * each commit would cost as much as a tenth of one. Where the journal is gone, too, there is nothing to keep.
 */
export function takeOwnership(path: string, { alone }: { alone: boolean }): Ownership {
  const file = ownerOf(path);
  let held = lock(path, { alone, patienceMs: alone ? PATIENCE_MS : 0 });
  if (!held) return { lost: undefined, compare: () => {}, release: () => {} };
  let lost: TeamError | undefined;
  let version = (): unknown => undefined;
  let seen: unknown;
  let missingSince: number | undefined;
  const lookSoon = (): void => {
    missingSince ??= held && !held.isInPlace() ? performance.now() : undefined;
    setTimeout(look, MOMENT_MS).unref();
  };
  let watcher = watchFile(file, lookSoon);
  const timer = setInterval(look, LOOK_EVERY_MS).unref();

  function look(): void {
    if (lost || !held) return;
    if (held.isInPlace()) {
      missingSince = undefined;
      seen = version();
    } else if (missingSince === undefined || performance.now() - missingSince < MOMENT_MS) lookSoon();
    else if (existsSync(path)) lost = takeAnew(held);
  }

  /** Why that cannot be, if others were first. What only stands in the way for now, also in theirs, is tried again. */
  function takeAnew(before: KernelLock): TeamError | undefined {
    try {
      const next = lock(path, { alone, patienceMs: 0 });
      if (!next) return undefined;
      before.release();
      held = next;
    } catch (error) {
      return error instanceof TeamError ? intruded(path) : undefined;
    }
    watcher?.close();
    watcher = watchFile(file, lookSoon);
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

/** Undefined where what is to be locked cannot be made: then nobody can write either. */
function lock(path: string, { alone, patienceMs }: { alone: boolean; patienceMs: number }): KernelLock | undefined {
  const file = ownerOf(path);
  let held: KernelLock | undefined;
  try {
    held = tryKernelLock(file, { shared: !alone, patienceMs });
  } catch (error) {
    if (!isThere(file)) return undefined;
    throw error;
  }
  if (held) return held;
  throw new TeamError(
    'storage',
    alone
      ? `Another process writes to ${path}, which is for one alone: end it first`
      : `${path} is written by one process alone, and that runs now: change it through that one (a daemon: with troupe), or end it first (troupe stop)`,
  );
}

/** Whatever it is, a link that leads nowhere too. */
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
    `Somebody removed ${ownerOf(path)}, and another process wrote to ${path}: nothing more is written from here. End that one, then open the journal anew (troupe stop).`,
  );
}

/** Undefined where there are no watches left: then it is looked at now and then. */
function watchFile(file: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(file, { persistent: false }, onChange).on('error', () => {});
  } catch {
    return undefined;
  }
}
