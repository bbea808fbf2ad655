import { existsSync, readFileSync } from 'node:fs';

/** The lines that another process has written so far; a file exists before its first line does. */
export function linesOf(path: string): string[] {
  return existsSync(path) ? (readFileSync(path, 'utf8').match(/.+(?=\n)/g) ?? []) : [];
}
