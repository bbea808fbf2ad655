import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { shellQuote } from '../core/shell.ts';
import { replacePrivateFile } from './private-file.ts';

/**
 * Writes the command `troupe` for members: this installation, on this Node. Messages and the documentation tell members
 * to call it, and their user may have started Troupe without it on the PATH, as npx does.
 */
export function writeLauncher(folder: string, command: readonly string[]): void {
  const path = join(folder, 'troupe');
  const text = `#!/bin/sh\n# Members of teams find this as \`troupe\`, if nothing else on their PATH has that name.\nexec ${command.map(shellQuote).join(' ')} "$@"\n`;
  if (isWritten(path, text)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  replacePrivateFile(path, text);
  chmodSync(path, 0o700);
}

function isWritten(path: string, text: string): boolean {
  try {
    return readFileSync(path, 'utf8') === text && (statSync(path).mode & 0o777) === 0o700;
  } catch {
    return false;
  }
}
