import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Puts a text in place of a file that only we may read: readers see the old or the new one, never a part of it. */
export function replacePrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.tmp`;
  // Left behind by a process of the same number that was killed in the middle.
  rmSync(draft, { force: true });
  const file = openSync(draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
}
