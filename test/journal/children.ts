import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A child process of a test. If it is still alive when the test ends, it is killed and awaited. */
export interface Child {
  /** The lines it has printed so far. */
  readonly lines: readonly string[];
  /** Resolves when it has printed `count` lines. */
  until(count: number): Promise<void>;
  /** Its exit code, or the signal that ended it, and what it wrote to stderr. */
  readonly ended: Promise<{ code: number | null; signal: string | null; errors: string }>;
  kill(signal: NodeJS.Signals): void;
  /** Writes a line to its standard input. */
  say(line: string): void;
}

export interface FixtureOptions {
  /** The command prefix before Node, such as `strace` and its options. */
  readonly prefix?: readonly string[];
  /** The folder of the compile cache. After a fixture has exited normally once, it starts three times as fast. */
  readonly cache?: string;
  /** The user that runs it; needs root. */
  readonly uid?: number;
}

/** Runs `test/fixtures/<name>.ts` on this Node. */
export function startFixture(
  name: string,
  args: readonly string[],
  { prefix = [], cache, uid }: FixtureOptions = {},
): Child {
  const script = join(import.meta.dirname, '../fixtures', `${name}.ts`);
  const [program = '', ...rest] = [...prefix, process.execPath, script, ...args];
  const env = cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: cache };
  const child = spawn(program, rest, { env, stdio: ['pipe', 'pipe', 'pipe'], ...(uid !== undefined && { uid }) });
  // Writing to a child that has ended must not throw.
  child.stdin.on('error', () => {});
  const lines: string[] = [];
  let pending = '';
  let errors = '';
  let wake = () => {};
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (pending + chunk).split('\n');
    pending = parts.pop() ?? '';
    lines.push(...parts);
    wake();
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
  let isOver = false;
  const ended = once(child, 'close').then(([code, signal]) => {
    isOver = true;
    wake();
    return { code: code as number | null, signal: signal as string | null, errors };
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    lines,
    ended,
    kill: (signal) => child.kill(signal),
    say: (line) => child.stdin.write(`${line}\n`),
    async until(count) {
      while (lines.length < count) {
        // Its last lines may come after its exit code.
        if (isOver) throw new Error(`${name} ended early: ${errors}`);
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
