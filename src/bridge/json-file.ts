import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { backOff } from '../core/back-off.ts';
import { decodeJson, encodeJson, FILE_BYTES } from './json-text.ts';
import type { Problem } from './json-text.ts';
import { LINKED } from './root.ts';

/**
 * A file of Claude Code. `unreadable` is neither absent nor empty: we conclude nothing from it and never overwrite it.
 */
export type FileReading =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'read';
      readonly value: unknown;
      readonly mode: number;
      readonly print: string;
    }
  | ({ readonly kind: 'unreadable'; readonly print: string } & Problem);

/** A small file is read in one call. */
const page = Buffer.allocUnsafe(64 * 1024);

/** How long a file may look half written before we call it torn. Claude Code's own writes take far less than 1 ms. */
const SETTLE_MS = 1_000;

const RETRY_MS = { least: 1, most: 100 };

/** Reads a file once, as it is now. Does not follow links, and reads only regular files. */
export function readNow(path: string): FileReading {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
    const problem = code === 'ELOOP' ? LINKED : `cannot be opened (${code})`;
    return { kind: 'unreadable', problem, print: '' };
  }
  try {
    const found = fstatSync(file, { bigint: true });
    const print = printOf(found);
    if (!found.isFile()) return { kind: 'unreadable', problem: 'is not a regular file', print };
    if (found.size > FILE_BYTES) return { kind: 'unreadable', problem: `is larger than ${FILE_BYTES} bytes`, print };
    const decoded = decodeJson(readAll(file, Number(found.size)));
    if ('problem' in decoded) return { kind: 'unreadable', ...decoded, print };
    return { kind: 'read', value: decoded.value, mode: Number(found.mode) & 0o777, print };
  } catch (error) {
    return { kind: 'unreadable', problem: `cannot be read (${(error as NodeJS.ErrnoException).code})`, print: '' };
  } finally {
    closeSync(file);
  }
}

/**
 * Reads a file that another process may be writing in place: retries a half-written file for up to one second. Waiting
 * does not help with large or linked files.
 */
export async function readSettled(path: string, within = SETTLE_MS): Promise<FileReading> {
  const giveUp = performance.now() + within;
  for (let attempt = 1; ; attempt++) {
    const pause = backOff(attempt, RETRY_MS);
    const reading = readNow(path);
    if (!isTorn(reading) || performance.now() + pause > giveUp) return reading;
    await sleep(pause);
  }
}

/** Whether a file is empty or cut off, because a process writes it in place or died during the write. */
export function isTorn(reading: FileReading): boolean {
  return reading.kind === 'unreadable' && reading.torn === true;
}

/** Whether there is anything at a path. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Identifies a version of a file by inode, size and time of writing. */
export function printOf({ ino, size, mtimeNs }: Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs'>): string {
  return `${ino}-${size}-${mtimeNs}`;
}

/** The same for a path; '' if nothing is there. */
export function printAt(path: string): string {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? printOf(found) : '';
}

/** Tells a directory from one that was removed and created again; '' if there is none. */
export function identityOf(path: string): string {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.ino}-${found.birthtimeNs}` : '';
}

/**
 * Replaces a file in one step and keeps its mode. New files get 0644, the mode of Claude Code's own. Returns what a
 * reading of the file would return.
 */
export function replaceFile(path: string, value: unknown, mode = 0o644): FileReading {
  return { kind: 'read', value, mode, print: writeWhole(path, encodeJson(value), mode) };
}

/** Temporary files of ours: named as Claude Code names its own, with a mark that shows leftovers as ours. */
export const TEMPORARY = /\.tmp\.troupe-[0-9a-f]{8}$/;

/** The same for a text that is not JSON; returns the file's print. */
export function writeWhole(path: string, text: string, mode = 0o644): string {
  const temporary = `${path}.tmp.troupe-${Math.random().toString(16).slice(2, 10).padEnd(8, '0')}`;
  const file = openSync(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    mode,
  );
  try {
    let written: BigIntStats;
    try {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
      written = fstatSync(file, { bigint: true });
      // Our umask may be stricter than Claude Code's, which must still be able to read the file.
      if ((Number(written.mode) & 0o777) !== mode) fchmodSync(file, mode);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
    return printOf(written);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
}

/** Everything in a file now. A file that grows meanwhile is read to its new end. */
function readAll(file: number, size: number): Buffer {
  if (size < page.length) {
    const length = readSync(file, page, 0, page.length, 0);
    if (length < page.length) return page.subarray(0, length);
  }
  const chunks: Buffer[] = [];
  for (let at = 0; at <= FILE_BYTES;) {
    const chunk = Buffer.allocUnsafe(1024 * 1024);
    const length = readSync(file, chunk, 0, chunk.length, at);
    if (length === 0) break;
    chunks.push(chunk.subarray(0, length));
    at += length;
  }
  return Buffer.concat(chunks);
}
