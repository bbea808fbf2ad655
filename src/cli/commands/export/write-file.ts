import { existsSync, linkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { explainFileError } from '../../../core/file-errors.ts';
import { requirePlace } from '../../reach/place.ts';
import { Refusal } from '../../show/errors.ts';
import { print } from '../../show/write.ts';

/** Standard output, as a file name. */
export const STDOUT = '-';

/** Refuses a file that exists or cannot be made. Called before long work, so that nobody waits for a refusal. */
export function requireFree(path: string, force: boolean): void {
  if (path === STDOUT) return;
  if (!force && existsSync(path)) throw isThere(path);
  requirePlace(path);
}

/** Writes a file whole or not at all. A `secret` one is for its owner alone. */
export function writeWhole(
  path: string,
  bytes: Uint8Array,
  { force, secret = false }: { readonly force: boolean; readonly secret?: boolean },
): void {
  if (path === STDOUT) {
    print(bytes);
    return;
  }
  const draft = `${path}.${process.pid}.part`;
  try {
    writeFileSync(draft, bytes, { flag: 'wx', mode: secret ? 0o600 : 0o666 });
    if (force) renameSync(draft, path);
    else putInPlace(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw isThere(path);
    throw explainFileError(error, path, 'write');
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A link fails if somebody else has just made the file. Some file systems, as that of USB sticks, have no links. */
function putInPlace(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(path)) throw error;
    renameSync(draft, path);
  }
}

function isThere(path: string): Refusal {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return new Refusal('conflict', `${path} is a folder: name a file`);
  }
  return new Refusal('conflict', `${path} exists already: choose another name, or replace it with --force`);
}
