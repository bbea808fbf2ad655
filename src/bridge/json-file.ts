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
import { decodeJson, encodeJson, FILE_BYTES } from './json-text.ts';
import { LINKED } from './root.ts';

/** A file of Claude Code's as it was found. `unreadable` is neither absent nor empty: nothing is concluded from it or written over it. */
export type FileReading =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'read';
      readonly value: unknown;
      readonly mode: number;
      readonly print: string;
    }
  | { readonly kind: 'unreadable'; readonly problem: string; readonly print: string };

/** A small file is read in one call. */
const page = Buffer.allocUnsafe(64 * 1024);

/** How long a file may look half written before that is what it is; the program's own writes take far less than a millisecond. */
const SETTLE_MS = 1_000;

/** Reads once, as it is now. Links and what is no file are not followed. */
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
    if (!found.isFile()) return { kind: 'unreadable', problem: 'is no regular file', print };
    if (found.size > FILE_BYTES) return { kind: 'unreadable', problem: `is larger than ${FILE_BYTES} bytes`, print };
    const decoded = decodeJson(readAll(file, Number(found.size)));
    if ('problem' in decoded) return { kind: 'unreadable', problem: decoded.problem, print };
    return { kind: 'read', value: decoded.value, mode: Number(found.mode) & 0o777, print };
  } catch (error) {
    return { kind: 'unreadable', problem: `cannot be read (${(error as NodeJS.ErrnoException).code})`, print: '' };
  } finally {
    closeSync(file);
  }
}

/**
 * Reads a file that somebody may be writing in place at this moment: what is half there is looked at again for up to a second.
 * Large or linked files do not get better by waiting.
 */
export async function readSettled(path: string, within = SETTLE_MS): Promise<FileReading> {
  const giveUp = performance.now() + within;
  for (let pause = 1; ; pause = Math.min(pause * 2, 100)) {
    const reading = readNow(path);
    if (!isTorn(reading) || performance.now() + pause > giveUp) return reading;
    await sleep(pause);
  }
}

/** Whether a file is empty or cut off, as one is that somebody writes in place, or ended while doing so. */
export function isTorn(reading: FileReading): boolean {
  return reading.kind === 'unreadable' && /empty|whole JSON/.test(reading.problem);
}

/** Whether there is anything at a path. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** What tells a file from the one that was there before: another inode, size or time of writing. */
export function printOf({ ino, size, mtimeNs }: Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs'>): string {
  return `${ino}-${size}-${mtimeNs}`;
}

/** The same for what is at a path; '' if nothing is. */
export function printAt(path: string): string {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? printOf(found) : '';
}

/** What tells a directory from one that was removed and made again; '' if there is none. */
export function identityOf(path: string): string {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.ino}-${found.birthtimeNs}` : '';
}

/**
 * Puts a new text in place of a file in one step, with the mode it had; new files get the mode of the program's own, 0644. Returns
 * what a reading of it would be.
 */
export function replaceFile(path: string, value: unknown, mode = 0o644): FileReading {
  return { kind: 'read', value, mode, print: writeWhole(path, encodeJson(value), mode) };
}

/** The names of files that we are about to rename: as the program names its own, and marked, so that those left behind are known as ours. */
export const TEMPORARY = /\.tmp\.troupe-[0-9a-f]{8}$/;

/** The same for a text that is no JSON; returns what tells the file from others. */
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
      // Ours may be a stricter umask than the program's: it must be able to read what it could read before.
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

/** All that is in a file now; one that grows meanwhile is read to its new end, so that it is judged as it is. */
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
