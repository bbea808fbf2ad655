import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

/** The variable by which every descendant of a process of ours can be found, also one that left its group. */
export const MARKER = 'TROUPE_PROCESS';

/** Enough to know a process again: a pid alone is reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In the kernel's ticks since boot; empty where the system does not tell. */
  readonly startTime: string;
  readonly bootId: string;
}

/** What to run. The environment is whole: nothing is inherited. */
export interface ProcessOptions {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The value of the marker variable; unique to this process and its descendants. */
  readonly marker: string;
  /** A file for its output in place of pipes: such a process lives on when we end. */
  readonly log?: string;
}

/** How a process came to its end. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process in a group of its own, with pipes. */
export interface RunningProcess {
  readonly child: ChildProcess;
  readonly identity: ProcessIdentity;
  /** Resolves when the process itself is gone, whatever still holds its pipes. */
  readonly exited: Promise<Exit>;
  /** Asks it to end, waits, then ends it; then ends what it left behind. Says what it took. */
  stop(graceMs?: number): Promise<'exited' | 'terminated' | 'killed'>;
}

const GRACE_MS = 5_000;

/** Starts a program without a shell, in a session of its own. Rejects when it cannot be run at all. */
export function startProcess({ command, cwd, env, marker, log }: ProcessOptions): Promise<RunningProcess> {
  return new Promise((resolve, reject) => {
    const [file, ...args] = command;
    const output = log === undefined ? 'pipe' : openSync(log, 'a', 0o600);
    const child = spawn(file, args, {
      cwd,
      env: { ...env, [MARKER]: marker },
      stdio: [log === undefined ? 'pipe' : 'ignore', output, output],
      detached: true,
      shell: false,
    });
    const exited = new Promise<Exit>((done) => child.once('exit', (code, signal) => done({ code, signal })));
    if (typeof output === 'number') closeSync(output);
    // A program that closes its end early must not end us.
    child.stdin?.on('error', () => {});
    child.once('error', reject);
    child.once('spawn', () => {
      const pid = child.pid as number;
      const stop = (graceMs = GRACE_MS) => stopProcess(pid, marker, exited, graceMs);
      resolve({ child, identity: identify(pid), exited, stop });
    });
  });
}

/** Ends a process that was started with this marker, and what it left behind; `exited` tells when it is gone. */
export async function stopProcess(
  pid: number,
  marker: string,
  exited: Promise<unknown>,
  graceMs = GRACE_MS,
): Promise<'exited' | 'terminated' | 'killed'> {
  const gone = async (ms: number): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ms);
    void exited.then(() => resolve(true));
    const result = await promise;
    clearTimeout(timer);
    return result;
  };
  let how: 'exited' | 'terminated' | 'killed' = 'exited';
  if (!(await gone(0))) {
    how = 'terminated';
    signalGroup(pid, 'SIGTERM');
    if (!(await gone(graceMs))) {
      how = 'killed';
      signalGroup(pid, 'SIGKILL');
    }
  }
  signalGroup(pid, 'SIGKILL');
  await endMarked(marker);
  return how;
}

/** Signals a whole group; one that is gone is no error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in it.
  }
}

/**
 * Ends every process that carries the marker, wherever it went: `setsid` and double forks leave the group but not the
 * environment. Looks again until none is found, because one may have forked while we looked.
 */
export async function endMarked(marker: string): Promise<number> {
  let ended = 0;
  for (let round = 0; round < 20; round++) {
    const found = findMarked(marker);
    if (found.length === 0) return ended;
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL');
        ended++;
      } catch {
        // It ended by itself.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 5 * (round + 1)));
  }
  return ended;
}

/** The processes of ours that carry the marker. Empty where the system has no /proc. */
export function findMarked(marker: string): number[] {
  const wanted = `${MARKER}=${marker}`;
  return pids().filter((pid) => {
    if (pid === process.pid) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(wanted);
    } catch {
      return false;
    }
  });
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

/** What tells this process from another that gets the same pid later. */
export function identify(pid: number): ProcessIdentity {
  return { pid, startTime: startTimeOf(pid), bootId: bootId() };
}

/** Whether this very process still runs. A zombie does not. Where start times are unknown, whether any has its number. */
export function isRunning(identity: ProcessIdentity): boolean {
  if (identity.bootId !== bootId() || !isThere(identity.pid)) return false;
  return startTimeOf(identity.pid) === identity.startTime && stateOf(identity.pid) !== 'Z';
}

/** Whether this very process has ended and its parent has not noted that yet. */
export function isUnnoted({ pid, startTime }: ProcessIdentity): boolean {
  return isThere(pid) && startTimeOf(pid) === startTime && stateOf(pid) === 'Z';
}

/** Whether any process has this number, be it one that ended and that its parent has not noted yet. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is there all the same.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The fields of /proc/PID/stat after the name, which may itself hold spaces and parentheses. */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

function startTimeOf(pid: number): string {
  return statOf(pid)[19] ?? '';
}

function stateOf(pid: number): string {
  return statOf(pid)[0] ?? '';
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return '';
  }
}
