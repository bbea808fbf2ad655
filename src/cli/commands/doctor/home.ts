import { accessSync, chmodSync, constants, lstatSync, statfsSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Home } from '../../../client/home.ts';
import type { Check } from './check.ts';

/** The longest path of a Unix socket: 108 bytes on Linux and 104 on macOS and the BSDs, with a final zero byte. */
const SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;
const SOCKET_PATH_EVERYWHERE = 103;

const MB = 1024 * 1024;

export function checkHome(home: Home): Check {
  const path = resolve(home.directory);
  const name = 'home';
  const found = look(path);
  const remedy = 'set TROUPE_HOME to another directory';
  if (!found) {
    const above = nearestDirectory(path);
    return isWritable(above)
      ? { name, state: 'ok', found: `${path}; the first command creates it` }
      : { name, state: 'fail', found: `${path} cannot be made: ${above} cannot be written`, remedy };
  }
  const mode = modeOf(found);
  if (found.isSymbolicLink()) return { name, state: 'fail', found: `${path} is a symbolic link`, remedy };
  if (!found.isDirectory()) return { name, state: 'fail', found: `${path} is not a directory`, remedy };
  if (isForeign(found)) return { name, state: 'fail', found: `${path} belongs to user ${found.uid}`, remedy };
  if ((found.mode & 0o022) !== 0) {
    const steps = `check that all files in it are yours, then run: chmod 700 ${path}`;
    return { name, state: 'fail', found: `${path} can be written by others (${mode})`, remedy: steps };
  }
  if ((found.mode & 0o077) !== 0) {
    // No daemon starts in it.
    const problem = `${path} can be read by others (${mode}), so no daemon starts`;
    return { name, state: 'fail', found: problem, remedy: `run: chmod 700 ${path}`, mend: () => restrict(path, 0o700) };
  }
  if (!isWritable(path)) return { name, state: 'fail', found: `${path} cannot be written (${mode})`, remedy };
  return { name, state: 'ok', found: `${path} (${mode})` };
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function checkDisk(home: Home): Check {
  const name = 'disk';
  try {
    const { bavail, bsize } = statfsSync(nearestDirectory(resolve(home.directory)));
    const free = (bavail * bsize) / MB;
    const found = free > 10 * 1024 ? `${Math.floor(free / 1024)} GB free` : `${Math.floor(free)} MB free`;
    const remedy = `free some space, or set TROUPE_HOME to another disk`;
    if (free < 10) return { name, state: 'fail', found, remedy };
    if (free < 200) return { name, state: 'warn', found, remedy };
    return { name, state: 'ok', found };
  } catch (error) {
    return { name, state: 'warn', found: `cannot be determined: ${(error as Error).message}` };
  }
}

export function checkSocket(home: Home): Check {
  const name = 'socket path';
  const bytes = Buffer.byteLength(resolve(home.socket));
  const found = `${bytes} of at most ${SOCKET_PATH_BYTES} bytes`;
  const remedy = 'set TROUPE_HOME to a shorter path';
  if (bytes > SOCKET_PATH_BYTES) return { name, state: 'fail', found, remedy };
  if (bytes > SOCKET_PATH_EVERYWHERE) return { name, state: 'warn', found: `${found}; too long for macOS`, remedy };
  return { name, state: 'ok', found };
}

/** Checks the files that only we may read. A file that no daemon has made yet is fine. */
export function checkFiles(home: Home): Check[] {
  const files: { name: string; path: string; with?: string[] }[] = [
    { name: 'token file', path: home.tokenFile },
    { name: 'secret file', path: home.secretFile },
    { name: 'journal', path: home.journal, with: [`${home.journal}-wal`] },
  ];
  return files.flatMap(({ name, path, with: others = [] }): Check[] => {
    const found = look(path);
    if (!found) return [];
    const mode = modeOf(found);
    if (!found.isFile()) {
      return [
        { name, state: 'fail', found: `${path} is not a regular file`, remedy: 'move it away and run troupe stop' },
      ];
    }
    if (isForeign(found)) {
      return [{ name, state: 'fail', found: `${path} belongs to user ${found.uid}`, remedy: 'move it away' }];
    }
    if ((found.mode & 0o077) !== 0) {
      const problem = `${path} is open to others (${mode})`;
      const mend = (): string => restrict(path, 0o600);
      return [{ name, state: 'fail', found: problem, remedy: `run: chmod 600 ${path}`, mend }];
    }
    // Data that is not yet in the journal file is in files beside it, and can be most of the total.
    const bytes = others.reduce((sum, other) => sum + (look(other)?.size ?? 0), found.size);
    return [{ name, state: 'ok', found: `${mode}, ${showSize(bytes)}` }];
  });
}

function restrict(path: string, mode: number): string {
  chmodSync(path, mode);
  return `chmod ${mode.toString(8)} ${path}`;
}

function showSize(bytes: number): string {
  return bytes < MB ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / MB).toFixed(1)} MB`;
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    // It does not exist, or its folder cannot.
    return undefined;
  }
}

function modeOf(stats: Stats): string {
  return `mode ${(stats.mode & 0o777).toString(8)}`;
}

function isForeign(stats: Stats): boolean {
  const self = process.getuid?.();
  return self !== undefined && stats.uid !== self;
}

function nearestDirectory(path: string): string {
  return look(path)?.isDirectory() || path === dirname(path) ? path : nearestDirectory(dirname(path));
}
