import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { openProcessTable } from './process-table.ts';
import type { MarkedProcess, ProcessTable } from './process-table.ts';
import type { SandboxWrap } from './sandbox/wrap.ts';

/** The variable that marks every descendant of our process, also one that left its group. */
export const MARKER = 'TROUPE_PROCESS';

/** Enough to recognize a process: a PID alone is reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** As the system reports it; empty if it does not. */
  readonly startTime: string;
  /** Differs from boot to boot; empty if the system does not report it. */
  readonly bootId: string;
}

/** What to run. The environment is complete: nothing is inherited. */
export interface ProcessOptions {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The value of the marker variable; unique to this process and its descendants. */
  readonly marker: string;
  /** A file for its output instead of pipes: such a process survives our end. */
  readonly log?: string;
  /** Runs it apart from everything else. */
  readonly sandbox?: SandboxWrap | undefined;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process in its own group, with pipes. */
export interface RunningProcess {
  readonly child: ChildProcess;
  readonly identity: ProcessIdentity;
  /** Resolves when the process itself is gone, even if its pipes are still open. */
  readonly exited: Promise<Exit>;
  /** Sends SIGTERM, waits, sends SIGKILL; then kills its descendants. Returns what that took. */
  stop(graceMs?: number): Promise<'exited' | 'terminated' | 'killed'>;
}

const GRACE_MS = 5_000;

/** The processes of this system. */
export const TABLE: ProcessTable = openProcessTable();

/** How often to look whether a process of somebody else still runs, in milliseconds. */
export const LOOK_EVERY_MS = TABLE.everyMs;

/** Starts a program without a shell, in its own session. Rejects if it cannot run at all. */
export function startProcess({ marker, log, sandbox, ...wanted }: ProcessOptions): Promise<RunningProcess> {
  return new Promise((resolve, reject) => {
    const { command, cwd, env } = sandbox?.wrap(wanted) ?? wanted;
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
    // A program that closes its end early must not crash us.
    child.stdin?.on('error', () => {});
    child.once('error', reject);
    child.once('spawn', () => {
      const identity = identify(child.pid as number);
      const stop = (graceMs = GRACE_MS) => stopProcess(identity, marker, exited, graceMs);
      resolve({ child, identity, exited, stop });
    });
  });
}

/** Ends a process that was started with this marker, and its descendants; `exited` resolves when it is gone. */
export async function stopProcess(
  identity: ProcessIdentity,
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
    signalGroup(identity, 'SIGTERM');
    if (!(await gone(graceMs))) {
      how = 'killed';
      signalGroup(identity, 'SIGKILL');
    }
  }
  signalGroup(identity, 'SIGKILL');
  await endMarked(marker);
  return how;
}

/**
 * Signals the group of a process; a group that is gone is no error. A group outlives its first process, and its number
 * is not given away before it is empty. So nothing is signalled if another process has the PID.
 */
export function signalGroup(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  const { pid, startTime, bootId } = identity;
  const now = TABLE.find(pid);
  if (now && (now.startTime !== startTime || TABLE.bootId() !== bootId)) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is empty.
  }
}

/**
 * Kills every process with the marker: `setsid` and double forks leave the group but keep the environment. Repeats
 * until none is found, because one may have forked meanwhile.
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

/** The processes with the marker, except this one. */
export function findMarked(marker: string): number[] {
  return findAllMarked().flatMap((found) => (found.marker === marker ? found.pid : []));
}

/** All processes that a Troupe of this user has started, and their descendants; except this one. */
export function findAllMarked(): MarkedProcess[] {
  return TABLE.withVariable(MARKER).filter(({ pid }) => pid !== process.pid);
}

/** The processor time that processes have used, in milliseconds. */
export function cpuTimeOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (TABLE.cpuMs(pid) ?? 0), 0);
}

/** Tells this process from a later one with the same PID. */
export function identify(pid: number, table = TABLE): ProcessIdentity {
  return { pid, startTime: table.find(pid)?.startTime ?? '', bootId: table.bootId() };
}

/**
 * Whether exactly this process still runs; a zombie does not. One whose start or boot is unknown does not count: its PID
 * may be a stranger's by now, and callers kill what runs.
 */
export function isRunning(identity: ProcessIdentity, table = TABLE): boolean {
  return stateOf(identity, table) === 'running';
}

/** Whether exactly this process is a zombie: it ended, and its parent has not reaped it yet. */
export function isUnnoted(identity: ProcessIdentity): boolean {
  return stateOf(identity, TABLE) === 'zombie';
}

/** Whether any process has this PID, including a zombie. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process exists too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function stateOf({ pid, startTime, bootId }: ProcessIdentity, table: ProcessTable): 'running' | 'zombie' | 'gone' {
  // The cheap questions first: most processes that are looked up here are gone.
  if (startTime === '' || bootId === '' || !isThere(pid) || table.bootId() !== bootId) return 'gone';
  const now = table.find(pid);
  if (now?.startTime !== startTime) return 'gone';
  return now.isZombie ? 'zombie' : 'running';
}
