import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** What `appendOneByOne` measures, as text. */
export const APPEND = 'fdatasync append of a record of the same size, one by one';

/** The simplest durable write: append a record to a file, flush it, append the next. Returns records per second. */
export function appendOneByOne(folder: string, record: string, count: number): number {
  const path = join(folder, 'limit.log');
  const file = openSync(path, 'a', 0o600);
  try {
    const bytes = Buffer.from(record);
    const start = performance.now();
    for (let done = 0; done < count; done++) {
      writeSync(file, bytes);
      fdatasyncSync(file);
    }
    return (count * 1000) / (performance.now() - start);
  } finally {
    closeSync(file);
    rmSync(path);
  }
}

/** Reads a file of JSON lines and parses each; returns milliseconds. */
export function readAndParse(path: string): number {
  const start = performance.now();
  for (const line of readFileSync(path, 'utf8').split('\n')) JSON.parse(line);
  return performance.now() - start;
}
