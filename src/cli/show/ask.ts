import { createInterface } from 'node:readline/promises';

/** Asks a person at the terminal; anything but yes is no. The question goes to standard error, never into a result. */
export async function askYesNo(question: string, signal: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-D counts as no; without this, the question would stay open.
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  const interrupted = new AbortController();
  lines.once('SIGINT', () => interrupted.abort());
  try {
    const either = AbortSignal.any([signal, interrupted.signal]);
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal: either }), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
