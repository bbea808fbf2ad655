import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Puts a text in place of a file that only we may read: readers see the old or the new one, never a part of it. */
export function replacePrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.tmp`;
  // Left behind by a process of the same number that was killed in the middle.
  rmSync(draft, { force: true });
  const file = openSync(draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  try {
    try {
      // Not `writeSync`, which on a full disk writes what there is room for.
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
