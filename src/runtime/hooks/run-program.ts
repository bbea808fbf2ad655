import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { startProcess } from '../../agents/process.ts';
import type { HookConfig, HookResult } from '../../core/hook.ts';

/** A hook that is a program. */
export interface HookProgram {
  /** A program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** What it is told, on standard input. Nothing of it is ever part of a command line. */
  readonly payload: object;
  /** Milliseconds until it is ended. */
  readonly timeout: number;
  /** Between asking it to end and ending it, in milliseconds. */
  readonly grace?: number | undefined;
  /** By it the program and all that it leaves behind are found. */
  readonly marker: string;
}

/** Kept of each output: the beginning and the end, for these two say what went wrong. Bytes each. */
const KEEP = 64 * 1024;

/** Where the caller says nothing of it. */
const GRACE_MS = 5_000;

/** How long output is read after the program ended; a child that took the pipe along must not hold up a verdict. */
const DRAIN_MS = 1_000;

const MODULE_RUNNER = fileURLToPath(
  new URL(`./module-runner${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
);

/** The program that a hook is, and its arguments. */
export function commandOf({ executor, command }: Pick<HookConfig, 'executor' | 'command'>): [string, ...string[]] {
  return executor === 'node' ? [process.execPath, MODULE_RUNNER, command] : ['/bin/sh', '-c', command];
}

/** Runs a hook to its end, or ends it. It never rejects: a hook that cannot be run is a hook that failed. */
export async function runProgram(hook: HookProgram): Promise<HookResult> {
  const began = performance.now();
  try {
    const program = await startProcess({ command: hook.command, cwd: hook.cwd, env: hook.env, marker: hook.marker });
    const stdout = keepOutput(program.child.stdout);
    const stderr = keepOutput(program.child.stderr);
    program.child.stdin?.end(JSON.stringify(hook.payload));
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      void program.stop(hook.grace ?? GRACE_MS);
    }, hook.timeout);
    const { code } = await program.exited;
    clearTimeout(timer);
    await program.stop(0);
    await Promise.race([Promise.all([stdout.closed, stderr.closed]), pause(DRAIN_MS)]);
    program.child.stdout?.destroy();
    program.child.stderr?.destroy();
    const exitCode = timedOut ? 1 : code === 0 ? 0 : code === 2 ? 2 : 1;
    const ran = { exitCode, stdout: stdout.text(), stderr: stderr.text(), duration: since(began), timedOut } as const;
    return typeof code === 'number' ? { ...ran, code } : ran;
  } catch (error) {
    const stderr = `Cannot run ${hook.command[0]}: ${(error as Error).message}`;
    return { exitCode: 1, stdout: '', stderr, duration: since(began), timedOut: false };
  }
}

/** Reads everything, keeps the head and the tail. */
function keepOutput(stream: NodeJS.ReadableStream | null): { text(): string; closed: Promise<void> } {
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let dropped = 0;
  const closed = new Promise<void>((resolve) => {
    if (!stream) {
      resolve();
      return;
    }
    stream.on('data', (chunk: Buffer) => {
      const room = KEEP - head.length;
      if (room > 0) head = Buffer.concat([head, chunk.subarray(0, room)]);
      const rest = chunk.subarray(Math.max(0, room));
      const joined = Buffer.concat([tail, rest]);
      dropped += Math.max(0, joined.length - KEEP);
      tail = joined.subarray(Math.max(0, joined.length - KEEP));
    });
    stream.once('close', resolve);
  });
  return {
    closed,
    text: () => {
      const gap = dropped > 0 ? `\n[${dropped} bytes left out]\n` : '';
      return stripControls(`${head.toString('utf8')}${gap}${tail.toString('utf8')}`);
    },
  };
}

/** Feedback goes into prompts and terminals: escape sequences have no business there. */
function stripControls(text: string): string {
  return stripVTControlCharacters(text).replace(/(?![\n\t])\p{Cc}/gu, '');
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

function since(began: number): number {
  return Math.round(performance.now() - began);
}
