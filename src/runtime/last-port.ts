import { readFileSync } from 'node:fs';
import { replacePrivateFile } from './private-file.ts';

/**
 * Listens on the last port if it is free, so that bookmarks and settings of MCP clients keep working; else on any.
 * `listen` rejects with an error whose cause is the system's.
 */
export async function listenOnLastPort<L extends { readonly port: number }>(
  file: string,
  listen: (port: number) => Promise<L>,
): Promise<L> {
  const last = readPort(file);
  const listening = await listen(last).catch((error: unknown) => {
    if (last === 0 || !isTaken(error)) throw error;
    return listen(0);
  });
  if (listening.port !== last) replacePrivateFile(file, `${listening.port}\n`);
  return listening;
}

function readPort(file: string): number {
  try {
    const port = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(port) && port > 1023 && port < 65_536 ? port : 0;
  } catch {
    return 0;
  }
}

function isTaken(error: unknown): boolean {
  const cause = (error as { cause?: NodeJS.ErrnoException } | undefined)?.cause;
  return cause?.code === 'EADDRINUSE' || cause?.code === 'EACCES';
}
