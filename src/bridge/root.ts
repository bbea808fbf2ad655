import { chmodSync, closeSync, fchmodSync, lstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { TeamError } from '../core/errors.ts';

/** Whether there is anything to look at; throws where looking would follow somebody else's lead. */
export function checkNativeRoot(root: string): boolean {
  if (!checkDirectory(root)) return false;
  for (const name of ['teams', 'tasks']) checkDirectory(join(root, name));
  return true;
}

/**
 * A link or another user's directory is refused, whatever it leads to: who can replace it decides what we read and where we
 * write.
 */
export function checkDirectory(path: string, remedy = 'set CLAUDE_CONFIG_DIR to a directory of your own'): boolean {
  const found = look(path);
  const why = found && whyForeign(found);
  if (why !== undefined) throw new TeamError('not_allowed', `${path} ${why}: ${remedy}`);
  return found !== undefined;
}

/** What is said of a link. */
export const LINKED = 'is a symbolic link, which is not followed';

/** What keeps a path from being a directory of one's own, if it is there at all. */
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

/** Before anything is written beside or into a file: neither its directory nor the one above may lead elsewhere. */
export function checkFolderOf(path: string): void {
  const remedy = 'nothing is written there; put a directory of your own in its place';
  for (const folder of [dirname(dirname(path)), dirname(path)]) checkDirectory(folder, remedy);
}

/** Makes a directory with the mode that the program gives its own, whatever our umask is. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) chmodSync(made, FOLDER_MODE);
}

/** Makes a file with the mode of the program's own, where there is none. */
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
    // Not there, or in a place where nothing can be.
    return undefined;
  }
}
