import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { explainFailure, gitMissing } from './git-errors.ts';

/** How a git command runs. */
export interface GitOptions {
  /** If it comes in parts, the command starts before the first one is there. */
  readonly input?: Buffer | string | AsyncIterable<Buffer | string>;
  /** More output than this ends the command. With `cut`, that is no error: the beginning is returned. */
  readonly maxBytes?: number;
  readonly cut?: boolean;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** The exit codes that are no failure. */
  readonly exits?: readonly number[];
  /** Further settings for this command alone. */
  readonly config?: readonly string[];
  /** Further variables: who commits, and when. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** What a git command printed, as bytes: names need not be UTF-8. */
export interface GitResult {
  readonly code: number;
  readonly out: Buffer;
  readonly err: string;
  readonly isCut: boolean;
}

const TIMEOUT_MS = 10 * 60_000;
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_COMPLAINT = 64 * 1024;

/** Where a program runs, and how. */
interface Start {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly options: GitOptions;
  readonly shown: readonly string[];
}

/** Runs git and waits for its end. Only for `git.ts`, which decides about settings and environment. */
export function start(
  program: string,
  args: readonly string[],
  { cwd, env, options, shown }: Start,
): Promise<GitResult> {
  const { input, maxBytes = MAX_BYTES, cut, timeoutMs = TIMEOUT_MS, signal, exits = [0] } = options;
  const { promise, resolve, reject } = Promise.withResolvers<GitResult>();
  if (signal?.aborted) return Promise.reject(aborted(signal));
  // In its own group, so that what git starts (a pack, a filter) ends with it.
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  child.once('error', (error: NodeJS.ErrnoException) => reject(gitMissing(program, cwd, error)));
  // With too many open files there are no pipes, and the error follows.
  if (!(child.stdout as Readable | undefined)) return promise;
  const out: Buffer[] = [];
  const complaint: Buffer[] = [];
  let [bytes, complaintBytes] = [0, 0];
  let ended: 'timeout' | 'aborted' | 'output' | 'input' | undefined;

  const end = (why: NonNullable<typeof ended>) => {
    ended ??= why;
    // Its output may arrive after its end. By then its number may be another program's.
    if (child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };
  const stop = () => end('aborted');
  const timer = setTimeout(() => end('timeout'), timeoutMs);
  signal?.addEventListener('abort', stop);

  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    out.push(chunk);
    if (bytes > maxBytes) end('output');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    if (complaintBytes < MAX_COMPLAINT) complaint.push(chunk);
    complaintBytes += chunk.length;
  });
  // A command that needs no more input closes its end early.
  child.stdin.on('error', () => {});
  let failure: unknown;
  if (typeof input !== 'object' || Buffer.isBuffer(input)) {
    child.stdin.end(input);
  } else {
    feed(child.stdin, input).catch((error: unknown) => {
      failure = error;
      end('input');
    });
  }

  // Also after an error.
  child.once('close', (code, killedBy) => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    const err = Buffer.concat(complaint).toString();
    const isCut = ended === 'output';
    if (isCut && cut) {
      resolve({ code: 0, out: Buffer.concat(out).subarray(0, maxBytes), err, isCut });
    } else if (ended === 'aborted') {
      reject(aborted(signal as AbortSignal));
    } else if (ended === 'input') {
      reject(failure);
    } else if (ended !== undefined || code === null || !exits.includes(code)) {
      const how = ended ?? (code === null ? `killed by ${killedBy}` : code);
      reject(explainFailure({ args: shown, how, err, dir: cwd, limits: { maxBytes, timeoutMs } }));
    } else {
      resolve({ code, out: Buffer.concat(out), err, isCut: false });
    }
  });
  return promise;
}

/** Writes the parts of an input as they come, no faster than they are read. */
async function feed(stdin: Writable, parts: AsyncIterable<Buffer | string>): Promise<void> {
  for await (const part of parts) {
    if (stdin.destroyed) return;
    // Called also if the command has ended: its exit code says why.
    await new Promise<void>((done) => stdin.write(part, () => done()));
  }
  stdin.end();
}

function aborted(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException('The work was stopped.', 'AbortError');
}
