import type { Readable } from 'node:stream';
import { splitLines } from '../core/lines.ts';
import type { LineRules } from '../core/lines.ts';

/** Reads what a program writes, line by line. Resolves when it is over and a last line without a newline was taken. */
export function readLines(stream: Readable | null, take: (line: string) => void, rules?: LineRules): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (!stream) return Promise.resolve();
  const lines = splitLines(take, rules);
  stream.on('data', (chunk: Buffer) => lines.push(chunk));
  stream.once('close', () => {
    lines.end();
    resolve();
  });
  return promise;
}
