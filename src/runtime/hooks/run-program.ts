import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { extname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { startProcess } from '../../agents/process.ts';
import type { HookConfig, HookResult } from '../../core/hook.ts';
import { PYTHON } from '../../core/variables.ts';

/** A hook that is a program. */
export interface HookProgram {
  /** A program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its standard input; empty without it. No part of it is ever in a command line. */
  readonly payload?: object;
  /** Milliseconds until it is killed. */
  readonly timeout: number;
  /** Milliseconds between SIGTERM and SIGKILL; those of any process without it. */
  readonly grace?: number | undefined;
  /** Finds the program and everything that it leaves behind. */
  readonly marker: string;
  /** Aborts to end it at once. */
  readonly signal?: AbortSignal | undefined;
  /** Gets a function that returns what it printed so far. */
  readonly onStart?: (printed: () => string) => void;
}

/** How much of each output is kept, in bytes: at least this much of its beginning and of its end, where errors usually are. */
const KEEP = 2 * 1024 * 1024;

/** How long output is read after the program's end; a child that keeps the pipe open must not delay a verdict. */
const DRAIN_MS = 1_000;

const MODULE_RUNNER = join(import.meta.dirname, `module-runner${extname(import.meta.filename)}`);

/** The command line of a hook. */
export function commandOf({ executor, command }: Pick<HookConfig, 'executor' | 'command'>): [string, ...string[]] {
  return executor === 'node' ? [process.execPath, MODULE_RUNNER, command] : ['/bin/sh', '-c', command];
}

/** The variables that a hook inherits; it gets no others. */
const INHERITED = [
  'PATH',
  'HOME',
  'USER',
  'LANG',
  'TZ',
  'TERM',
  'TMPDIR',
  'SHELL',
  'XDG_STATE_HOME',
  'TROUPE_HOME',
  ...PYTHON,
];

/**
 * The environment of a hook: the little that programs need, and the ids of its subject, as `TROUPE_*` and under the
 * older name `WUNDR_*`. Only ids and counts: a title in a variable could end up in a script's `sh -c`.
 */
export function hookEnvironment(
  ours: Readonly<Record<string, string | undefined>>,
  about: Readonly<Record<string, string>>,
  wanted: readonly string[] = [],
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(ours)) {
    if (value !== undefined && (INHERITED.includes(name) || name.startsWith('LC_') || wanted.includes(name))) {
      env[name] = value;
    }
  }
  for (const [name, value] of Object.entries(about)) {
    env[`TROUPE_${name}`] = value;
    env[`WUNDR_${name}`] = value;
  }
  return env;
}

/** Runs a hook until it ends or times out. Never rejects: a hook that cannot run has failed. */
export async function runProgram(hook: HookProgram): Promise<HookResult> {
  const began = performance.now();
  try {
    const program = await startProcess({ command: hook.command, cwd: hook.cwd, env: hook.env, marker: hook.marker });
    // Without a log, all three are pipes.
    const child = program.child as ChildProcessWithoutNullStreams;
    const stdout = keepOutput(child.stdout);
    const stderr = keepOutput(child.stderr);
    child.stdin.end(JSON.stringify(hook.payload));
    hook.onStart?.(() => stdout.text());
    const end = (): void => void program.stop(0);
    hook.signal?.addEventListener('abort', end);
    if (hook.signal?.aborted) end();
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      void program.stop(hook.grace);
    }, hook.timeout);
    const { code } = await program.exited;
    clearTimeout(timer);
    hook.signal?.removeEventListener('abort', end);
    await program.stop(0);
    await Promise.race([Promise.all([stdout.closed, stderr.closed]), pause(DRAIN_MS)]);
    child.stdout.destroy();
    child.stderr.destroy();
    const exitCode = timedOut ? 1 : code === 0 ? 0 : code === 2 ? 2 : 1;
    const ran = { exitCode, stdout: stdout.text(), stderr: stderr.text(), duration: since(began), timedOut } as const;
    return typeof code === 'number' ? { ...ran, code } : ran;
  } catch (error) {
    const stderr = `Cannot run ${hook.command[0]}: ${(error as Error).message}`;
    return { exitCode: 1, stdout: '', stderr, duration: since(began), timedOut: false };
  }
}

/** Reads everything, keeps the beginning and the end. */
function keepOutput(stream: NodeJS.ReadableStream): { text(): string; closed: Promise<void> } {
  const head: Buffer[] = [];
  const tail: Buffer[] = [];
  let [inHead, inTail, dropped] = [0, 0, 0];
  const closed = new Promise<void>((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      if (inHead < KEEP) {
        head.push(chunk);
        inHead += chunk.length;
        return;
      }
      tail.push(chunk);
      inTail += chunk.length;
      // The chunk that just came stays.
      while (inTail - (tail[0] as Buffer).length >= KEEP) {
        const { length } = tail.shift() as Buffer;
        inTail -= length;
        dropped += length;
      }
    });
    stream.once('close', resolve);
  });
  return {
    closed,
    text: () => {
      const gap = dropped > 0 ? `\n[${dropped} bytes left out]\n` : '';
      return stripControls(`${Buffer.concat(head).toString('utf8')}${gap}${Buffer.concat(tail).toString('utf8')}`);
    },
  };
}

/** Feedback goes into prompts and terminals, so escape sequences are removed. */
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
