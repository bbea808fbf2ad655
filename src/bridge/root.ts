import { chmodSync, closeSync, fchmodSync, lstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { TeamError } from '../core/errors.ts';

/** Whether there is a root to read. Throws if someone else could decide what we read. */
export function checkNativeRoot(root: string): boolean {
  if (!checkDirectory(root)) return false;
  for (const name of ['teams', 'tasks']) checkDirectory(join(root, name));
  return true;
}

/** Refuses a link or another user's directory: whoever can replace it decides what we read and where we write. */
function checkDirectory(path: string, remedy = 'set CLAUDE_CONFIG_DIR to a directory of your own'): boolean {
  const found = look(path);
  const why = found && whyForeign(found);
  if (why !== undefined) throw new TeamError('not_allowed', `${path} ${why}: ${remedy}`);
  return found !== undefined;
}

/** The problem of a link. */
export const LINKED = 'is a symbolic link, which is not followed';

/** Why a path is not a directory of the user's own; undefined if it is, or if nothing is there. */
export function whyNotOwn(path: string): string | undefined {
  const found = look(path);
  return found && whyForeign(found);
}

function whyForeign(found: Stats): string | undefined {
  if (found.isSymbolicLink()) return LINKED;
  if (!found.isDirectory()) return 'is not a directory';
  const self = process.getuid?.();
  return self !== undefined && found.uid !== self ? `belongs to user ${found.uid}, not to you` : undefined;
}

/** Checks the two directories above a file before a write: neither may lead elsewhere. */
export function checkFolderOf(path: string): void {
  const remedy = 'Troupe writes nothing there; put a directory of your own in its place';
  for (const folder of [dirname(dirname(path)), dirname(path)]) checkDirectory(folder, remedy);
}

/** Creates a directory with the mode that Claude Code uses, whatever our umask. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) chmodSync(made, FOLDER_MODE);
}

/** Creates a file with the mode that Claude Code uses, unless it exists. */
export function makeFile(path: string, text = ''): void {
  try {
    const file = openSync(path, 'wx', FILE_MODE);
    try {
      writeSync(file, text);
      fchmodSync(file, FILE_MODE);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

const FOLDER_MODE = 0o755;
const FILE_MODE = 0o644;

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // Not there, or below something that is not a directory.
    return undefined;
  }
}
