// Stands in for src/agents/process.ts: the processes of the simulated machines.
import { EventEmitter } from 'node:events';
import type { MarkedProcess, ProcessTable } from '../../../src/agents/process-table.ts';
import type { Exit, ProcessIdentity, ProcessOptions } from '../../../src/agents/process.ts';
import { later, newOwner, scheduler } from '../scheduler.ts';
import type { Owner } from '../scheduler.ts';

export const MARKER = 'TROUPE_PROCESS';
export const LOOK_EVERY_MS = 200;

/** Other programs than ours: the simulated machines have none. */
export const TABLE: Pick<ProcessTable, 'all' | 'environmentOf' | 'space' | 'openFiles'> = {
  all: () => [],
  environmentOf: () => undefined,
  space: () => '',
  openFiles: () => ({ open: 0, limit: 1_024 }),
};

/** Runs a program until it ends by itself; `signal` is SIGTERM. Returns its exit code, or the signal that ended it. */
export type Program = (
  options: ProcessOptions,
  signal: AbortSignal,
  self: SimulatedProcess,
) => Promise<number | NodeJS.Signals>;

/** The end of a pipe that a parent reads. */
class Pipe extends EventEmitter {
  destroy(): void {
    this.removeAllListeners();
  }
}

export interface SimulatedProcess {
  readonly pid: number;
  readonly marker: string;
  readonly command: readonly string[];
  readonly machine: string;
  readonly owner: Owner;
  readonly terminate: AbortController;
  readonly boot: number;
  readonly stdout: Pipe;
  readonly stderr: Pipe;
  /** What it writes to its standard error. */
  readonly complain: (text: string) => void;
  /** Called once, with its end. */
  readonly onExit: ((exit: Exit) => void)[];
  exit: Exit | undefined;
}

/** All processes that ever ran in this run. */
export const table = {
  processes: [] as SimulatedProcess[],
  boots: new Map<string, number>(),
  /** Processes that nobody here started, by number. */
  others: new Map<number, Owner>(),
  program: (async () => 0) as Program,
  /** Why a program cannot be started now. */
  refuse: (_options: ProcessOptions): string | undefined => undefined,
  reset(program: Program): void {
    this.processes = [];
    this.refuse = () => undefined;
    this.boots.clear();
    this.others.clear();
    this.program = program;
  },
  running(machine?: string): SimulatedProcess[] {
    return this.processes.filter((one) => !one.exit && (machine === undefined || one.machine === machine));
  },
  /** Ends a process; whoever waits for that hears it. */
  end(process: SimulatedProcess, exit: Exit): void {
    if (process.exit) return;
    process.exit = exit;
    process.owner.isAlive = false;
    for (const tell of process.onExit.splice(0)) tell(exit);
    closePipes(process.marker);
  },
};

/** A pipe is closed when the last process that has it has ended. */
function closePipes(marker: string): void {
  const all = table.processes.filter((one) => one.marker === marker);
  if (all.some(({ exit }) => !exit)) return;
  for (const { stdout, stderr } of all) for (const pipe of [stdout, stderr]) pipe.emit('closing');
}

function openPipe(reader: Owner): Pipe {
  const pipe = new Pipe();
  pipe.once('closing', () => void scheduler.plan(0.2, () => pipe.emit('close'), reader));
  return pipe;
}

/** Adds a process that does nothing and ends only when it is killed: a program left it behind, in a group of its own. */
export function leaveBehind({ marker, machine, command }: SimulatedProcess): void {
  addProcess({ marker, command: [`child of ${command[0]}`], machine }, newOwner(`${machine}/child`, machine));
}

function addProcess(
  { marker, command, machine }: Pick<SimulatedProcess, 'marker' | 'command' | 'machine'>,
  parent: Owner,
): SimulatedProcess {
  const pid = 1_000 + table.processes.length;
  const stderr = openPipe(parent);
  const process: SimulatedProcess = {
    pid,
    marker,
    command,
    machine,
    owner: newOwner(`${machine}/${pid}`, machine),
    terminate: new AbortController(),
    boot: table.boots.get(machine) ?? 0,
    stdout: openPipe(parent),
    stderr,
    complain: (text) => void scheduler.plan(0.1, () => stderr.emit('data', Buffer.from(text)), parent),
    onExit: [],
    exit: undefined,
  };
  table.processes.push(process);
  return process;
}

/** The processes of members that run. */
export function members(): SimulatedProcess[] {
  return table.running().filter(({ marker }) => marker.startsWith('member-'));
}

/** The processes of gates that run, and what those left behind. */
export function gates(): SimulatedProcess[] {
  return table.running().filter(({ marker }) => marker.startsWith('hook-'));
}

/** Whether a process is the one of a member. */
export function runsMember({ command }: SimulatedProcess, memberId: string): boolean {
  return command.join(' ').includes(`--agent ${memberId} `);
}

export async function startProcess(options: ProcessOptions) {
  const refusal = table.refuse(options);
  if (refusal !== undefined) throw new Error(refusal);
  const parent = scheduler.owner();
  const { command, marker } = options;
  const process = addProcess({ command, marker, machine: parent.machine }, parent);
  const { pid, owner, terminate, stdout, stderr } = process;
  scheduler.plan(
    1,
    () => {
      table.program(options, terminate.signal, process).then(
        (end) =>
          table.end(process, typeof end === 'number' ? { code: end, signal: null } : { code: null, signal: end }),
        () => table.end(process, { code: 1, signal: null }),
      );
    },
    owner,
  );
  const exited = whenExited(process);
  await later(scheduler.random('processes').between(1, 20));
  return {
    child: { stdin: { end() {} }, stdout, stderr },
    identity: identify(pid),
    exited,
    stop: (graceMs = 5_000) => stopProcess({ pid }, marker, exited, graceMs),
  };
}

/** Resolves for whoever asks, a moment after the process has ended. */
function whenExited(process: SimulatedProcess): Promise<Exit> {
  const asker = scheduler.owner();
  return new Promise((resolve) => {
    const tell = (exit: Exit): void => void scheduler.plan(0.1, () => resolve(exit), asker);
    if (process.exit) tell(process.exit);
    else process.onExit.push(tell);
  });
}

export async function stopProcess(
  { pid }: Pick<ProcessIdentity, 'pid'>,
  marker: string,
  exited: Promise<unknown>,
  graceMs = 5_000,
): Promise<'exited' | 'terminated' | 'killed'> {
  const process = find(pid);
  let how: 'exited' | 'terminated' | 'killed' = 'exited';
  if (process && !process.exit) {
    signalGroup({ pid }, 'SIGTERM');
    const isGone = await Promise.race([exited.then(() => true), later(graceMs).then(() => false)]);
    if (!isGone) signalGroup({ pid }, 'SIGKILL');
    how = isGone ? 'terminated' : 'killed';
  }
  await endMarked(marker);
  return how;
}

export function signalGroup({ pid }: Pick<ProcessIdentity, 'pid'>, signal: NodeJS.Signals): void {
  const process = find(pid);
  if (!process || process.exit) return;
  if (signal === 'SIGKILL') table.end(process, { code: null, signal });
  // A stopped process gets it when it goes on.
  else scheduler.plan(0, () => process.terminate.abort(), process.owner);
}

export async function endMarked(marker: string): Promise<number> {
  const found = findMarked(marker);
  for (const pid of found) signalGroup({ pid }, 'SIGKILL');
  if (found.length > 0) await later(5);
  return found.length;
}

export function findMarked(marker: string): number[] {
  return findAllMarked().flatMap((found) => (found.marker === marker ? found.pid : []));
}

export function findAllMarked(): MarkedProcess[] {
  return table
    .running(scheduler.owner().machine)
    .map(({ pid, marker, command }) => ({ pid, marker, command: command.join(' ') }));
}

export function cpuTimeOf(): number {
  return 0;
}

export function identify(pid: number): ProcessIdentity {
  const process = find(pid);
  const startTime = process || table.others.get(pid)?.isAlive ? String(pid) : '';
  return { pid, startTime, bootId: String(process?.boot ?? '') };
}

export function isRunning({ pid }: ProcessIdentity): boolean {
  const process = find(pid);
  return process !== undefined && !process.exit;
}

export function isUnnoted(): boolean {
  return false;
}

export function isThere(pid: number): boolean {
  return isRunning(identify(pid));
}

function find(pid: number): SimulatedProcess | undefined {
  const process = table.processes[pid - 1_000];
  return process?.machine === scheduler.owner().machine || scheduler.owner().name === 'world' ? process : undefined;
}
