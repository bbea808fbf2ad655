import { closeSync, constants, openSync } from 'node:fs';
import { TeamError } from '../../core/errors.ts';
import { DatabaseSync } from '../node-sqlite.ts';
import { isBusy } from './errors.ts';

/** Who asks whether it may write looks in for a moment; one that is being closed needs a moment, too. */
const PATIENCE_MS = 1_000;

/** The right to write a journal's file, for as long as it is held. */
export interface Ownership {
  release(): void;
}

/** What is locked by those who may write a journal's file. */
export const ownerOf = (path: string): string => `${path}.owner`;

/**
 * Takes the right to write: alone, or together with others who share it. An owner that is alone tells nobody of its commits and looks for
 * nobody's: a second writer would be overlooked, and has to hear so. As with the lock of a state directory, it is the kernel that
 * holds it, in an empty database beside the file, and lets go with the process. Reading needs none. Where that database cannot be made, nobody
 * can write either.
 */
export function takeOwnership(path: string, { alone }: { alone: boolean }): Ownership {
  const db = open(ownerOf(path));
  if (!db) return { release: () => {} };
  try {
    db.exec(`PRAGMA busy_timeout = ${alone ? PATIENCE_MS : 0}; PRAGMA journal_mode = MEMORY`);
    db.exec(alone ? 'BEGIN EXCLUSIVE' : 'BEGIN; SELECT count(*) FROM sqlite_schema');
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
  return { release: () => db.close() };
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
