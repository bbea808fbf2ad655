import { cpSync, renameSync, rmSync } from 'node:fs';

/** Moves a file or a directory: within a file system in one step; across two, whole first and only then away. */
export function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    cpSync(from, to, { recursive: true, errorOnExist: true, preserveTimestamps: true });
    rmSync(from, { recursive: true });
  }
}
