import type { FileHandle } from 'node:fs/promises';

/** A whole line of a file, without its line break, and the place where it begins, in bytes. */
export interface Line {
  readonly place: number;
  /** The place after its line break. */
  readonly end: number;
  readonly bytes: Buffer;
  /** It was too long to be kept: these are its first bytes. */
  readonly isCut?: true;
}

/** How much is read at once. */
const CHUNK_BYTES = 256 * 1024;

/** More of one line is never in memory. The longest lines are tool calls that write a whole file. */
export const LINE_BYTES = 32 * 1024 * 1024;

const BREAK = 10;

/** The whole lines between two places. The first place begins a line. A last line without a break does not count. */
export async function* linesBetween(file: FileHandle, from: number, to: number): AsyncGenerator<Line> {
  let place = from;
  let read = from;
  let parts: Buffer[] = [];
  let kept = 0;
  while (read < to) {
    const chunk = await readAt(file, read, Math.min(CHUNK_BYTES, to - read));
    if (chunk.length === 0) return;
    let begin = 0;
    for (let end = chunk.indexOf(BREAK); end >= 0; end = chunk.indexOf(BREAK, begin)) {
      if (kept < LINE_BYTES) parts.push(chunk.subarray(begin, end));
      const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      begin = end + 1;
      const line = { place, end: read + begin, bytes };
      yield place + bytes.length + 1 === line.end ? line : { ...line, isCut: true };
      place = read + begin;
      parts = [];
      kept = 0;
    }
    if (kept < LINE_BYTES && begin < chunk.length) {
      parts.push(chunk.subarray(begin));
      kept += chunk.length - begin;
    }
    read += chunk.length;
  }
}

/** Where the line begins that holds the byte before `place`. */
export async function lineBefore(file: FileHandle, place: number): Promise<number> {
  // The break that ends this line is not the one that we look for.
  let end = place - 1;
  while (end > 0) {
    const from = Math.max(0, end - CHUNK_BYTES);
    const found = (await readAt(file, from, end - from)).lastIndexOf(BREAK);
    if (found >= 0) return from + found + 1;
    end = from;
  }
  return 0;
}

/** Where the first line begins at or after `place`; `size` if none does. */
export async function lineFrom(file: FileHandle, place: number, size: number): Promise<number> {
  if (place === 0) return 0;
  for (let from = place - 1; from < size; from += CHUNK_BYTES) {
    const found = (await readAt(file, from, Math.min(CHUNK_BYTES, size - from))).indexOf(BREAK);
    if (found >= 0) return from + found + 1;
  }
  return size;
}

/** Reads up to `length` bytes. */
export async function readAt(file: FileHandle, place: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, place);
  return buffer.subarray(0, bytesRead);
}
