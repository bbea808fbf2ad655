import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { explainFileError } from '../../core/file-errors.ts';

/** Refuses a file whose folder is missing or cannot be written. Called before long work, so that nobody waits for a refusal. */
export function requirePlace(path: string): void {
  try {
    // With the dot, a file in place of the folder is told from a folder that is closed to us.
    accessSync(`${dirname(path)}/.`, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw explainFileError(error, path, 'write');
  }
}
