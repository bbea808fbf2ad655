import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from '../until.ts';

/** A program that a test has started. */
export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it has printed so far. */
  readonly output: { stdout: string; stderr: string };
  /** Resolves with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Runs a TypeScript program of `test/daemon/programs`, or any file, on this Node. It is killed when the test ends. */
export function run(program: string, args: readonly string[] = [], options: SpawnOptions = {}): Running {
  const path = program.includes('/') ? program : join(import.meta.dirname, 'programs', `${program}.ts`);
  return track(spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'pipe'], ...options }));
}

/** Follows a child process until the test ends, and ends it then. */
export function track(child: ChildProcess): Running {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (output.stdout += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (output.stderr += chunk));
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'));
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  return { child, pid: child.pid ?? 0, output, ended };
}

/** Pauses a process and waits until all its threads have stopped, which takes a while on a busy machine. */
export async function pauseProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  if (process.platform !== 'linux') return;
  await until(`process ${pid} has stopped`, () =>
    readdirSync(`/proc/${pid}/task`).every((thread) =>
      /\) T/.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')),
    ),
  );
}
