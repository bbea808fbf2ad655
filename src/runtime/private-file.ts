import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Replaces a file that only we may read: readers see the old or the new text, never a part. */
export function replacePrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.tmp`;
  // Left by a killed process with the same PID.
  rmSync(draft, { force: true });
  const file = openSync(draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  try {
    try {
      // Not `writeSync`, which writes only part of it on a full disk.
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
