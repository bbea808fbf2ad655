import { accessSync, chmodSync, constants, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TeamError } from '../core/errors.ts';

/** Others may neither write here nor read. */
const PRIVATE = 0o700;
const WRITABLE_BY_OTHERS = 0o022;

/** What the address of a Unix socket holds, less the zero at its end: 108 bytes on Linux, 104 on macOS and the BSDs. */
const SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** The folder of a team in which those of its members work that nobody gave another. Empty at first. */
export function teamFolder({ folders }: { readonly folders: string }, teamId: string): string {
  return join(folders, teamId);
}

/** Makes a state directory that is ours alone, or throws a `TeamError` that says what is wrong with the one that is there. */
export function prepareHome(directory: string): void {
  // A slash at the end would make lstat follow a link.
  const path = resolve(directory);
  try {
    makeFolder(path);
  } catch (error) {
    throw refusal(path, `cannot be made: ${(error as Error).message}`, 'choose another with TROUPE_HOME', error);
  }
  const found = lstatSync(path);
  if (found.isSymbolicLink()) throw refusal(path, 'is a symbolic link', 'set TROUPE_HOME to where it leads');
  if (!found.isDirectory()) throw refusal(path, 'is not a directory', 'choose another with TROUPE_HOME');
  const self = process.getuid?.();
  if (self !== undefined && found.uid !== self) {
    throw refusal(path, `belongs to user ${found.uid}, not to you (${self})`, 'choose another with TROUPE_HOME');
  }
  if ((found.mode & WRITABLE_BY_OTHERS) !== 0) {
    throw refusal(
      path,
      `can be written by others (mode ${(found.mode & 0o777).toString(8)})`,
      `see that nothing in it is foreign, then run: chmod 700 ${path}`,
    );
  }
  requireWritable(path);
  if ((found.mode & 0o777) === PRIVATE) return;
  // Of somebody's folder that has other things in it we would lock out those who use them.
  if (!isOurs(path)) {
    const mode = (found.mode & 0o777).toString(8);
    throw refusal(
      path,
      `holds other things and is open to others (mode ${mode})`,
      'choose an empty one with TROUPE_HOME',
    );
  }
  chmodSync(path, PRIVATE);
}

/**
 * Makes a folder and those above it that are missing. One by one: where nothing can be made, as in /proc, Node's own
 * recursive way never ends.
 */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    mkdirSync(path, { mode: PRIVATE });
  } catch (error) {
    // Another command may have been first; what else may be there is judged by the caller.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function requireWritable(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw refusal(path, `cannot be written: ${(error as Error).message}`, 'choose another with TROUPE_HOME', error);
  }
}

/** Empty, or with what only a daemon of ours leaves. */
function isOurs(path: string): boolean {
  const names = readdirSync(path);
  return names.every((name) => name === 'starting' || name === 'daemon.log') || names.includes('lock.db');
}

/** Says so where the system would only say "invalid argument", or cut the path short. */
export function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= SOCKET_PATH_BYTES) return;
  throw new TeamError(
    'storage',
    `The path of the socket ${path} has ${bytes} bytes, and this system allows ${SOCKET_PATH_BYTES}: ` +
      'set TROUPE_HOME to a shorter path',
  );
}

function refusal(path: string, what: string, remedy: string, cause?: unknown): TeamError {
  return new TeamError('storage', `The state directory ${path} ${what}: ${remedy}`, { cause });
}

/** Whether there was no room left to write. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(String((error as NodeJS.ErrnoException | undefined)?.code));
}

/** Says that there is no room to start in. */
export function noRoom(directory: string, cause: unknown): TeamError {
  const message = `the disk is full: there is no room in ${directory} to start. Free some space and try again`;
  return new TeamError('storage', message, { cause });
}
