import { closeSync, constants, existsSync, openSync, statSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { TeamError } from '../../core/errors.ts';
import { DatabaseSync } from '../node-sqlite.ts';
import { isBusy } from './errors.ts';

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
  let held = lock(path, { alone });
  if (!held) return { lost: undefined, compare: () => {}, release: () => {} };
  let lost: TeamError | undefined;
  let version = (): unknown => undefined;
  let seen: unknown;
  let missingSince: number | undefined;
  const lookSoon = (): void => {
    missingSince ??= held && !isInPlace(held, file) ? performance.now() : undefined;
    setTimeout(look, MOMENT_MS).unref();
  };
  let watcher = watchFile(file, lookSoon);
  const timer = setInterval(look, LOOK_EVERY_MS).unref();

  function look(): void {
    if (lost || !held) return;
    if (isInPlace(held, file)) {
      missingSince = undefined;
      seen = version();
    } else if (missingSince === undefined || performance.now() - missingSince < MOMENT_MS) lookSoon();
    else if (existsSync(path)) lost = takeAnew(held);
  }

  /** Why that cannot be, if others were first. What only stands in the way for now, also in theirs, is tried again. */
  function takeAnew(before: Held): TeamError | undefined {
    try {
      const next = lock(path, { alone, patienceMs: 0 });
      if (!next) return undefined;
      before.db.close();
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
      held?.db.close();
      held = undefined;
    },
  };
}

/** What is locked, and how it is known from another file in its place. */
interface Held {
  readonly db: DatabaseSync;
  readonly dev: number;
  readonly ino: number;
}

function isInPlace({ dev, ino }: Held, file: string): boolean {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    return found?.dev === dev && found.ino === ino;
  } catch {
    // It cannot be looked at, which does not mean that it is gone.
    return true;
  }
}

function lock(
  path: string,
  { alone, patienceMs = alone ? PATIENCE_MS : 0 }: { alone: boolean; patienceMs?: number },
): Held | undefined {
  const db = open(ownerOf(path));
  if (!db) return undefined;
  try {
    db.exec(`PRAGMA busy_timeout = ${patienceMs}; PRAGMA journal_mode = MEMORY`);
    db.exec(alone ? 'BEGIN EXCLUSIVE' : 'BEGIN; SELECT count(*) FROM sqlite_schema');
    const { dev, ino } = statSync(ownerOf(path));
    return { db, dev, ino };
  } catch (error) {
    db.close();
    if (!isBusy(error)) throw error;
    throw new TeamError(
      'storage',
      alone
        ? `Another process writes to ${path}, which is for one alone: end it first`
        : `${path} is written by one process alone, and that runs now: change it through that one (a daemon: with troupe), or end it first (troupe stop)`,
    );
  }
}

function intruded(path: string): TeamError {
  return new TeamError(
    'storage',
    `Somebody removed ${ownerOf(path)}, and another process wrote to ${path}: nothing more is written from here. End that one, then open the journal anew (troupe stop).`,
  );
}

function open(file: string): DatabaseSync | undefined {
  try {
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
    closeSync(openSync(file, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, 0o600));
  } catch (error) {
    // A file that is there is not opened: closing it would end the locks of this process.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return undefined;
  }
  return new DatabaseSync(file);
}

/** Undefined where there are no watches left: then it is looked at now and then. */
function watchFile(file: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(file, { persistent: false }, onChange).on('error', () => {});
  } catch {
    return undefined;
  }
}
