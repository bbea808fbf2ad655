import { createInterface } from 'node:readline/promises';

/** Asks a person at the terminal; anything but a yes is a no. The question never mixes with a result. */
export async function askYesNo(question: string, signal: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-D is an answer too, and would else leave the question open.
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
