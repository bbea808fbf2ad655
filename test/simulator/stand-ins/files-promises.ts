// Stands in for node:fs/promises in the journals: no thread takes a time that no seed decides.
import { closeSync, fdatasyncSync, openSync, writeFileSync } from 'node:fs';

/** A file that is written at once. */
export async function open(path: string, flags: string, mode: number) {
  const file = openSync(path, flags, mode);
  return {
    writeFile: async (text: string): Promise<void> => writeFileSync(file, text),
    datasync: async (): Promise<void> => fdatasyncSync(file),
    close: async (): Promise<void> => closeSync(file),
  };
}
