import { lstatSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
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
export function checkDirectory(path: string): boolean {
  const found = look(path);
  if (!found) return false;
  const remedy = 'set CLAUDE_CONFIG_DIR to a directory of your own';
  if (found.isSymbolicLink()) {
    throw new TeamError('not_allowed', `${path} is a symbolic link, which the bridge does not follow: ${remedy}`);
  }
  if (!found.isDirectory()) throw new TeamError('not_allowed', `${path} is not a directory: ${remedy}`);
  const self = process.getuid?.();
  if (self !== undefined && found.uid !== self) {
    throw new TeamError('not_allowed', `${path} belongs to user ${found.uid}, not to you: ${remedy}`);
  }
  return true;
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    // Not there, or in a place where nothing can be.
    return undefined;
  }
}
