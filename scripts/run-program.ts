import { spawn } from 'node:child_process';

/** Longer than any download that still makes progress, so only a hang reaches it. */
const HANG_MS = 900_000;

/** How a program exited; 0 is success. */
export interface Ended {
  readonly status: number;
  readonly stderr: string;
}

/** Runs a program without blocking this one. A program that cannot be started ends with 127, as in a shell. */
export function runProgram(
  [program = '', ...args]: readonly string[],
  { cwd = process.cwd(), env = process.env }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    // Not spawn's own `timeout`: if a program could not be started, its timer keeps this process alive.
    const signal = AbortSignal.timeout(HANG_MS);
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'], signal });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    child.once('error', (error) => resolve({ status: 127, stderr: error.message }));
    child.once('close', (status) => resolve({ status: status ?? 1, stderr }));
  });
}

/** Says what is being installed, and then how long it took. */
export async function sayInstalling<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  console.log(`Installing ${what}.`);
  const result = await work();
  console.log(`Done after ${Math.round((performance.now() - began) / 1_000)} s: ${what}.`);
  return result;
}
