import { randomBytes } from 'node:crypto';
import { chmod, lstat, readdir, rename, rm } from 'node:fs/promises';
import { TeamError } from '../core/errors.ts';
import { wordFileError } from '../core/file-errors.ts';
import { shellWord } from '../core/shell.ts';
import { inFolder } from './paths.ts';

/**
 * Removes a folder that agents wrote into. Some of its folders may be read-only, as in the module cache of Go, or so deep
 * that no path leads to them.
 */
export async function removeFolder(path: string): Promise<void> {
  for (;;) {
    try {
      return await rm(path, { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      const isMendable = MENDABLE.has((error as NodeJS.ErrnoException).code);
      if (!isMendable || !(await mendFolder(path))) throw wordRefusal(path, error);
    }
  }
}

const MENDABLE = new Set<string | undefined>(['EACCES', 'EPERM', 'ENAMETOOLONG']);

/** Removes several. One that cannot be removed, such as with files of another user, keeps none of the others. */
export async function removeFolders(paths: readonly string[]): Promise<void> {
  const ends = [];
  for (const path of paths) ends.push(...(await Promise.allSettled([removeFolder(path)])));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

function wordRefusal(path: string, cause: unknown): TeamError {
  const text = `${path} cannot be removed: ${wordFileError(cause)}. A container or another user may own files in it. Remove it yourself: sudo rm -rf ${shellWord(path)}`;
  return new TeamError('not_allowed', text, { cause });
}

/** Lets its owner write into a folder, if that is the reason why it cannot be moved. */
export async function makeWritable(path: string | Buffer): Promise<boolean> {
  const facts = await lstat(path).catch(() => undefined);
  if (!facts?.isDirectory() || (facts.mode & RWX) === RWX) return false;
  return chmod(path, (facts.mode & 0o777) | RWX).then(
    () => true,
    () => false,
  );
}

const RWX = 0o700;

/** Linux and macOS take paths of at most 4,096 and 1,024 bytes, and a name has at most 255. */
const LONG = 700;

/** Makes what is in a folder removable; says whether that changed anything. What is too deep moves up. */
async function mendFolder(top: string): Promise<boolean> {
  const look = async (inside: Buffer | undefined): Promise<boolean> => {
    const here = inside === undefined ? Buffer.from(top) : inFolder(top, inside);
    let isChanged = await makeWritable(here);
    const entries = await readdir(here, { withFileTypes: true, encoding: 'buffer' }).catch(() => []);
    for (const entry of entries) {
      if (!entry.isDirectory()) continue;
      const path = inside === undefined ? entry.name : Buffer.concat([inside, SLASH, entry.name]);
      if (path.length < LONG) isChanged = (await look(path)) || isChanged;
      else {
        await makeWritable(inFolder(top, path));
        await rename(inFolder(top, path), inFolder(top, Buffer.from(randomBytes(12).toString('hex'))));
        isChanged = true;
      }
    }
    return isChanged;
  };
  return look(undefined);
}

const SLASH = Buffer.from('/');
