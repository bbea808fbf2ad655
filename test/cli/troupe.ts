import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { identify, isRunning as isTheSame } from '../../src/agents/process.ts';
import { until } from '../until.ts';
import { answerInPool } from './answer-pool.ts';
import { canAnswer } from './answers.ts';
import type { Outcome } from './answers.ts';

/** The command, as people call it. */
export const BIN = join(import.meta.dirname, '../../bin/troupe.js');

/** What a command gets besides its words. */
export interface Given {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The command line with a state directory of its own. */
export interface Troupe {
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Runs a command to its end. A line is split at spaces; "quoted parts" stay together. */
  run(words: string | readonly string[], given?: Given): Promise<Outcome>;
  /** Answers a command without a process of its own, which is faster. For tests that only look at the output. */
  ask(words: string | readonly string[], given?: Pick<Given, 'env'>): Promise<Outcome>;
  /** Like `ask` with --json: the command must succeed. Returns its parsed output. */
  askJson<T = Record<string, unknown>>(words: string | readonly string[], given?: Pick<Given, 'env'>): Promise<T>;
  /** The same in a process of its own if there is input. */
  json<T = Record<string, unknown>>(words: string | readonly string[], given?: Given): Promise<T>;
  /** Starts a command; it is killed when the test ends. */
  start(words: string | readonly string[], given?: Given): Started;
}

/** A command that runs. */
export interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: { stdout: string; stderr: string };
  readonly ended: Promise<Outcome>;
}

/** A state directory for the running test alone. Its daemon, if any, ends with the test. */
export function newTroupe(): Troupe {
  const { troupe, close } = openTroupe();
  onTestFinished(close);
  return troupe;
}

/** One state directory for all tests of a group, whose daemon no test stops. */
export function sharedTroupe(): Troupe {
  const { troupe, close } = openTroupe();
  beforeAll(async () => {
    await troupe.run('status');
  });
  afterAll(close);
  return troupe;
}

/** The process that `daemon.json` names as the daemon of a state directory. */
export function readPid(home: string): number | undefined {
  try {
    return (JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as { pid: number }).pid;
  } catch {
    return undefined;
  }
}

/** Kills the daemon of a state directory, and waits until it is gone: a command may still reach one that is dying. */
export async function killDaemon(home: string): Promise<void> {
  const pid = readPid(home);
  if (pid === undefined) throw new Error(`No daemon runs in ${home}`);
  process.kill(pid, 'SIGKILL');
  await until('the daemon is gone', () => !isRunning(pid));
}

/** Whether a process runs; a zombie does not. */
export function isRunning(pid: number): boolean {
  return isTheSame(identify(pid));
}

/** Makes a state directory that the caller must close. */
export function openTroupe(): { troupe: Troupe; close: () => Promise<void> } {
  // Short, because the path of a Unix socket must be.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-cli-')));
  const home = join(folder, 'home');
  const environment = environmentFor(home);
  const start = (words: string | readonly string[], { input, env = {} }: Given = {}): Started => {
    const child = spawn(process.execPath, [BIN, ...wordsOf(words)], { env: { ...environment, ...env } });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output.stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output.stderr += chunk));
    // A command that does not read its input may be gone before it is written.
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
    const ended = new Promise<Outcome>((resolve) => {
      child.once('close', (code, signal) => resolve({ status: code ?? signal ?? 'SIGKILL', ...output }));
    });
    return { child, output, ended };
  };
  const run: Troupe['run'] = (words, given) => start(words, given).ended;
  const troupe: Troupe = {
    home,
    environment,
    run,
    ask(line, { env = {} } = {}) {
      const words = wordsOf(line);
      if (!canAnswer(words)) return run(words, { env });
      const around = { ...withoutForeign(), ...ownEnvironment(home), ...env };
      return answerInPool(words, { env: around, cwd: process.cwd() });
    },
    async askJson<T>(words: string | readonly string[], given?: Pick<Given, 'env'>): Promise<T> {
      return readJson(words, await troupe.ask([...wordsOf(words), '--json'], given)) as T;
    },
    async json<T>(words: string | readonly string[], given?: Given): Promise<T> {
      if (given?.input === undefined) return troupe.askJson<T>(words, given);
      return readJson(words, await run([...wordsOf(words), '--json'], given)) as T;
    },
    start(words, given) {
      const started = start(words, given);
      onTestFinished(async () => {
        started.child.kill('SIGKILL');
        await started.ended;
      });
      return started;
    },
  };
  return { troupe, close: () => end(troupe.home, folder) };
}

function readJson(words: string | readonly string[], { status, stdout, stderr }: Outcome): unknown {
  if (status !== 0) throw new Error(`${String(words)} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as unknown;
}

/** Ends the daemon as `troupe stop` does, without the command. */
async function end(home: string, folder: string): Promise<void> {
  const pid = readPid(home);
  if (pid !== undefined && isRunning(pid)) {
    process.kill(pid, 'SIGTERM');
    await until('the daemon has ended', () => !isRunning(pid));
  }
  await endStarting(home);
  rmSync(folder, { recursive: true, force: true });
}

/** Ends daemons that were still starting when the test ended: no file names them, and they would recreate the home. */
async function endStarting(home: string): Promise<void> {
  await until('no daemon is left', () => {
    const left = findDaemons(home);
    for (const pid of left) endAt(pid);
    return left.length === 0;
  });
}

function endAt(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in the meantime.
  }
}

/** The daemons of a state directory, also those that are not ready; none without /proc. */
export function findDaemons(home: string): number[] {
  const read = (pid: string, name: string): string[] => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0');
    } catch {
      return [];
    }
  };
  const pids = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return pids
    .filter((pid) => read(pid, 'environ').includes(`TROUPE_HOME=${home}`) && read(pid, 'cmdline').includes('serve'))
    .map(Number);
}

/** Settings that the person who runs the tests has for their own Troupe. */
const FOREIGN = /^(TROUPE_(?!TEST_|SOURCE)|NO_COLOR|FORCE_COLOR|COLORTERM|CLICOLOR|TMUX|OTEL_)/;

/** Our environment without these settings, for a state directory. */
function environmentFor(home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  return { ...Object.fromEntries(kept), ...ownEnvironment(home) };
}

function ownEnvironment(home: string): Record<string, string> {
  return { TROUPE_HOME: home, CLAUDE_CONFIG_DIR: join(home, '../claude') };
}

/** The changes that take these settings away from a process that has ours. */
function withoutForeign(): Record<string, undefined> {
  const names = Object.keys(process.env).filter((name) => FOREIGN.test(name));
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

/** The words of a command line; a quoted part is one word. */
export function wordsOf(words: string | readonly string[]): string[] {
  if (typeof words !== 'string') return [...words];
  const parts = words.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g);
  return [...parts].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}
