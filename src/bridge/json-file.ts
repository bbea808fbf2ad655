import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJson, encodeJson, FILE_BYTES } from './json-text.ts';

/** A file of Claude Code's as it was found. `unreadable` is neither absent nor empty: nothing is concluded from it or written over it. */
export type FileReading =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'read';
      readonly value: unknown;
      readonly text: string;
      readonly mode: number;
      readonly print: string;
    }
  | { readonly kind: 'unreadable'; readonly problem: string; readonly print: string };

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
    const problem = code === 'ELOOP' ? 'is a symbolic link' : `cannot be opened (${code})`;
    return { kind: 'unreadable', problem, print: '' };
  }
  try {
    const found = fstatSync(file, { bigint: true });
    const print = `${found.ino}-${found.size}-${found.mtimeNs}`;
    if (!found.isFile()) return { kind: 'unreadable', problem: 'is no regular file', print };
    if (found.size > FILE_BYTES) return { kind: 'unreadable', problem: `is larger than ${FILE_BYTES} bytes`, print };
    const bytes = readFileSync(file);
    const decoded = decodeJson(bytes);
    if ('problem' in decoded) return { kind: 'unreadable', problem: decoded.problem, print };
    return {
      kind: 'read',
      value: decoded.value,
      text: bytes.toString('utf8'),
      mode: Number(found.mode) & 0o777,
      print,
    };
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
    const mayChange = reading.kind === 'unreadable' && /empty|whole JSON/.test(reading.problem);
    if (!mayChange || performance.now() + pause > giveUp) return reading;
    await sleep(pause);
  }
}

/** Puts a new text in place of a file in one step, with the mode it had; new files get the mode of the program's own, 0644. */
export function replaceFile(path: string, value: unknown, mode = 0o644): void {
  writeWhole(path, encodeJson(value), mode);
}

/** The same for a text that is no JSON. */
export function writeWhole(path: string, text: string, mode = 0o644): void {
  // The name that the program itself gives what it is about to rename; it ignores those it did not make.
  const temporary = `${path}.tmp.${Math.random().toString(16).slice(2, 10).padEnd(8, '0')}`;
  const file = openSync(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    mode,
  );
  try {
    try {
      // Ours may be a stricter umask than the program's: it must be able to read what it could read before.
      fchmodSync(file, mode);
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
}
