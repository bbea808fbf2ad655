import { cpSync, renameSync, rmSync } from 'node:fs';

/** Moves a file or directory: by a rename within a file system; across two, by a full copy before the removal. */
export function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    cpSync(from, to, { recursive: true, errorOnExist: true, preserveTimestamps: true });
    rmSync(from, { recursive: true });
  }
}
