import { accessSync, chmodSync, constants, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TeamError } from '../core/errors.ts';
import { wordFileError } from '../core/file-errors.ts';
import { clearWay } from './clear-way.ts';

/** Others may neither write nor read here. */
const PRIVATE = 0o700;
const WRITABLE_BY_OTHERS = 0o022;

/** The longest socket path, without the final zero byte: 108 bytes on Linux, 104 on macOS and the BSDs. */
const SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** The folder of a team for members without another folder. Empty at first. */
export function teamFolder({ folders }: { readonly folders: string }, teamId: string): string {
  return join(folders, teamId);
}

/**
 * Creates a private state directory, unless its socket would have too long a path. Throws a `TeamError` that says what is
 * wrong with an existing one.
 */
export function prepareHome(directory: string, socket?: string): void {
  if (socket !== undefined) checkSocketPath(socket);
  // A slash at the end would make lstat follow a link.
  const path = resolve(directory);
  try {
    makeFolder(path);
  } catch (error) {
    throw refusal(path, `cannot be made (${wordFileError(error)})`, 'choose another with TROUPE_HOME', error);
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
      `check that all files in it are yours, then run: chmod 700 ${path}`,
    );
  }
  requireWritable(path);
  makePrivate(path, found.mode);
  clearWay(path);
}

function makePrivate(path: string, before: number): void {
  if ((before & 0o777) === PRIVATE) return;
  // In a folder with other content, the new mode would lock out its other users.
  if (!isOurs(path)) {
    const mode = (before & 0o777).toString(8);
    throw refusal(
      path,
      `holds other files and is open to others (mode ${mode})`,
      'choose an empty one with TROUPE_HOME',
    );
  }
  chmodSync(path, PRIVATE);
}

/**
 * Creates a folder and its missing parents, one by one: where nothing can be created, as in /proc, Node's own recursive
 * way never ends.
 */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    mkdirSync(path, { mode: PRIVATE });
  } catch (error) {
    // Another command may have been first; the caller checks what is there.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function requireWritable(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw refusal(path, `cannot be written (${wordFileError(error)})`, 'choose another with TROUPE_HOME', error);
  }
}

/** Empty, or with files that only our daemon leaves. */
function isOurs(path: string): boolean {
  const names = readdirSync(path);
  return names.every((name) => name === 'starting' || name === 'daemon.log') || names.includes('lock.db');
}

/** Refuses a long path with a clear message: the system would say "invalid argument" or cut the path short. */
function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= SOCKET_PATH_BYTES) return;
  throw new TeamError(
    'storage',
    `The socket path ${path} has ${bytes} bytes, and this system allows ${SOCKET_PATH_BYTES}: ` +
      'set TROUPE_HOME to a shorter path',
  );
}

function refusal(path: string, what: string, remedy: string, cause?: unknown): TeamError {
  return new TeamError('storage', `The state directory ${path} ${what}: ${remedy}`, { cause });
}

/** Whether an error means that the disk is full. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(String((error as NodeJS.ErrnoException | undefined)?.code));
}

/** The error for a disk that is too full to start. */
export function noRoom(directory: string, cause: unknown): TeamError {
  const message = `the disk is full: there is no room in ${directory} to start. Free some space and try again`;
  return new TeamError('storage', message, { cause });
}
