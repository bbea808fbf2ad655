import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** A file or link as git stores it, if nothing has to be converted. */
export interface PlainFile {
  readonly mode: string;
  readonly bytes: Buffer;
}

/** Reads the files of a workspace. */
export interface PlainFiles {
  /**
   * Reads a file, or the target of a link. Undefined if it is neither any more, is larger than it was, or is not in the
   * folder: an agent can replace a folder above it by a link to files that it may not read itself.
   */
  read(path: string, most: number): PlainFile | undefined;
  /** What a path is. */
  find(path: string): 'file' | 'nothing' | 'other';
}

/** Reads files in a folder whose two folders above are the daemon's. */
export function openPlainFiles(folder: string): PlainFiles {
  const team = dirname(folder);
  // Where the folder is without any link.
  const place = join(realpathSync.native(dirname(team)), basename(team), basename(folder));
  return {
    read(path, most) {
      let file: number | undefined;
      try {
        // A link is not followed, and a pipe that takes the file's place meanwhile does not hold us up.
        file = openSync(`${place}/${path}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        const facts = fstatSync(file);
        if (!facts.isFile() || facts.size > most || !isAt(file, facts, `${place}/${path}`)) return undefined;
        const bytes = readAll(file, facts.size);
        return bytes && { mode: (facts.mode & 0o100) === 0 ? '100644' : '100755', bytes };
      } catch (error) {
        // What else went, or cannot be read, the usual way finds out.
        return (error as NodeJS.ErrnoException).code === 'ELOOP' ? readTarget(place, path) : undefined;
      } finally {
        if (file !== undefined) closeSync(file);
      }
    },
    find(path) {
      try {
        const facts = lstatSync(`${place}/${path}`, { throwIfNoEntry: false });
        return facts === undefined ? 'nothing' : facts.isFile() ? 'file' : 'other';
      } catch {
        return 'other';
      }
    },
  };
}

function readAll(file: number, size: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(size);
  for (let at = 0; at < size;) {
    const count = readSync(file, bytes, at, size - at, at);
    if (count === 0) return undefined;
    at += count;
  }
  return bytes;
}

function readTarget(place: string, path: string): PlainFile | undefined {
  const whole = join(place, path);
  try {
    const bytes = readlinkSync(whole, { encoding: 'buffer' });
    return realpathSync.native(dirname(whole)) === dirname(whole) ? { mode: '120000', bytes } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an open file is the one with this path, and was not reached by a link. */
function isAt(file: number, facts: { ino: number; dev: number }, place: string): boolean {
  if (process.platform === 'linux') return readlinkSync(`/proc/self/fd/${file}`) === place;
  const { ino, dev } = lstatSync(place);
  return realpathSync.native(place) === place && ino === facts.ino && dev === facts.dev;
}
