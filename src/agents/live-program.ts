import { TeamError } from '../core/errors.ts';
import type { StartOptions } from './agent.ts';
import { startProcess } from './process.ts';
import type { RunningProcess } from './process.ts';
import { requireProgram } from './program.ts';

/** A program that serves one session over its standard input and output until it is closed. */
export interface LiveProgram {
  readonly stdin: NonNullable<RunningProcess['child']['stdin']>;
  readonly stdout: NonNullable<RunningProcess['child']['stdout']>;
  /** Resolves with a description of the end when the program is gone for any reason. */
  readonly gone: Promise<string>;
  /** Lets it end by itself, then kills it and everything that it left behind. */
  close(): Promise<void>;
}

/** What to run and how to end it. */
export interface LiveProgramOptions {
  readonly command: readonly [string, ...string[]];
  readonly start: StartOptions;
  /** How to install the program, for users without it. */
  readonly install?: string | undefined;
  /** How long it may take to end once its input is closed; 0 for a program known not to end by itself. */
  readonly leaveMs?: number;
}

/** How much of standard error is kept, to explain an end. */
const TAIL_LIMIT = 4 * 1024;

const LEAVE_MS = 2_000;
const GRACE_MS = 1_000;

/** Starts a program for a session. If it cannot run, rejects with what is missing. */
export async function startLiveProgram(options: LiveProgramOptions): Promise<LiveProgram> {
  const { command, start, install, leaveMs = LEAVE_MS } = options;
  requireProgram(command[0], start, install);
  const program = await launch(command, start);
  start.onProcess?.(program.identity.pid);
  const { stdin, stdout, stderr } = program.child as Required<RunningProcess['child']>;
  let errors = '';
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-TAIL_LIMIT);
  });
  const gone = program.exited.then(({ code, signal }) => {
    const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
    return `${command[0]} ${how}${errors.trim() ? `: ${errors.trim()}` : ''}`;
  });
  return {
    stdin: stdin as LiveProgram['stdin'],
    stdout: stdout as LiveProgram['stdout'],
    gone,
    async close() {
      stdin?.end();
      if (leaveMs > 0) await within(program.exited, leaveMs);
      await program.stop(GRACE_MS);
      stdout?.destroy();
      stderr?.destroy();
    },
  };
}

/** Waits for a promise at most this long; returns whether it settled. */
export async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const come = (): void => resolve(true);
  void work.then(come, come);
  const came = await promise;
  clearTimeout(timer);
  return came;
}

async function launch(
  command: LiveProgramOptions['command'],
  { cwd, env, sandbox }: StartOptions,
): Promise<RunningProcess> {
  try {
    return await startProcess({ command, cwd, env, sandbox, marker: env['TROUPE_PROCESS'] ?? crypto.randomUUID() });
  } catch (error) {
    throw new TeamError('invalid', `Cannot run ${command[0]} in ${cwd}: ${(error as Error).message}`, { cause: error });
  }
}
