import { lstatSync } from 'node:fs';
import { isTorn, printOf, readNow } from './json-file.ts';
import type { FileReading } from './json-file.ts';
import type { Problem } from './json-text.ts';

/** What a look at a file found. If the file is unreadable now, the last good reading and the problem. */
export interface Remembered extends Partial<Problem> {
  readonly reading: FileReading;
  /** Time of the last write, in milliseconds since 1970; 0 if there is no file. */
  readonly mtime: number;
}

/** A cache of native files, so that only changed files are read again. */
export interface FileMemory {
  /** The content of a file. With `doubt`, a file that may have changed without a sign is read again. */
  look(path: string, options?: { doubt?: boolean }): Remembered;
  /** Records what we wrote ourselves, so that it need not be read. */
  wrote(path: string, written: FileReading): void;
}

/**
 * Two writes within one tick of the file system's clock have the same time, and maybe the same size. A file that was
 * read within this time after its last change is read again later.
 */
export const TICK_MS = 20;

interface Entry extends Remembered {
  readonly print: string;
  /** Read or written by us so soon after its last change that a further change would look the same. */
  readonly doubtful: boolean;
  readonly own: boolean;
}

/** Starts with an empty cache. */
export function rememberFiles(): FileMemory {
  const entries = new Map<string, Entry>();
  return {
    look(path, { doubt = false } = {}) {
      const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      if (!found) {
        entries.delete(path);
        return { reading: { kind: 'absent' }, mtime: 0 };
      }
      const before = entries.get(path);
      const mtime = Number(found.mtimeNs / 1_000_000n);
      const isSame = before?.print === printOf(found);
      // A notification of our own write is no reason to read; the next sweep reads it anyway.
      if (isSame && (!before.doubtful || (before.own && !doubt))) return before;
      const now = Date.now();
      const reading = readNow(path);
      if (reading.kind === 'unreadable') {
        const good = before?.reading.kind === 'read' ? before.reading : reading;
        const kept = good === reading ? '' : '; shown as it was before';
        return { reading: good, problem: `${reading.problem}${kept}`, torn: isTorn(reading), mtime };
      }
      if (reading.kind === 'absent') {
        entries.delete(path);
        return { reading, mtime: 0 };
      }
      const known = before?.reading;
      // An equal value keeps its object: callers compare by identity.
      const kept = isSame && known?.kind === 'read' && isEqual(known.value, reading.value) ? known : reading;
      const entry = { print: reading.print, reading: kept, mtime, doubtful: now - mtime < TICK_MS, own: false };
      entries.set(path, entry);
      return entry;
    },
    wrote(path, written) {
      if (written.kind !== 'read') return;
      entries.set(path, { print: written.print, reading: written, mtime: Date.now(), doubtful: true, own: true });
    },
  };
}

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
