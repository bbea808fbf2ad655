import { EventEmitter } from 'node:events';
import type { MarkedProcess } from '../../src/agents/process-table.ts';
import type { Exit, ProcessOptions } from '../../src/agents/process.ts';
import { newOwner, scheduler, WORLD } from './scheduler.ts';
import type { Owner } from './scheduler.ts';

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
  /** Of Troupe; empty for a process of somebody else. */
  readonly marker: string;
  readonly command: readonly string[];
  readonly machine: string;
  readonly owner: Owner;
  readonly parent: Owner;
  /** The group that it is in; it leads the one that has its number. */
  readonly group: number;
  /** In hundredths of a second since the boot, as Linux has it. */
  readonly startTime: string;
  readonly terminate: AbortController;
  readonly stdout: Pipe;
  readonly stderr: Pipe;
  /** What it writes to its standard error. */
  readonly complain: (text: string) => void;
  exit: Exit | undefined;
  /** Tells its parent of its end. */
  ended: () => void;
  /** Its parent has heard of its end. Until then it is a zombie and keeps its number. */
  isReaped: boolean;
}

/** The first number that a machine gives away. Those below are daemons, and processes of Claude Code. */
const FIRST_PID = 10_000;

/** How long a number is free before somebody else gets it, at most, while numbers are scarce, in milliseconds. */
const FREE_MS = 250;
/** How often it looks whether the number of a process that has ended is free. */
const LOOKS = 4;
/** How many processes that ended last are remembered with their numbers. */
const REMEMBERED = 12;

/** All processes that ever ran in this run. */
export const table = {
  processes: [] as SimulatedProcess[],
  /** Of other people and their programs. They may have any free number. */
  strangers: [] as SimulatedProcess[],
  boots: new Map<string, { count: number; at: number; lastPid: number }>(),
  /** Processes of Claude Code, by number. */
  others: new Map<number, Owner>(),
  program: (async () => 0) as Program,
  /** Why a program cannot be started now. */
  refuse: (_options: ProcessOptions): string | undefined => undefined,
  /** Called when a signal of Troupe reaches a process that is not its own. */
  struck: (_what: string): void => {},
  /** Until then the numbers of processes that end are soon given to others. */
  scarceUntil: 0,
  reset(program: Program): void {
    this.processes = [];
    this.strangers = [];
    this.refuse = () => undefined;
    this.struck = () => {};
    this.scarceUntil = 0;
    this.boots.clear();
    this.others.clear();
    this.program = program;
  },
  /** Processes of Troupe. */
  running(machine?: string): SimulatedProcess[] {
    return this.processes.filter((one) => !one.exit && (machine === undefined || one.machine === machine));
  },
  /** Ends a process. */
  end(process: SimulatedProcess, exit: Exit): void {
    if (process.exit) return;
    process.exit = exit;
    process.owner.isAlive = false;
    process.ended();
    if (process.marker !== '') closePipes(process.marker);
    if (scheduler.now < this.scarceUntil) scheduler.plan(waitMs(), () => replace(process, LOOKS), WORLD);
  },
  /** A signal of somebody else than Troupe. */
  signal(process: SimulatedProcess, signal: NodeJS.Signals): void {
    deliver(process, signal);
  },
  /** All processes of a machine have ended, and its numbers begin again. */
  restart(machine: string): void {
    const before = this.running(machine);
    for (const process of [...before, ...this.strangers.filter((one) => one.machine === machine)]) {
      this.end(process, { code: null, signal: 'SIGKILL' });
      process.isReaped = true;
    }
    const { count } = bootOf(machine);
    this.boots.set(machine, { count: count + 1, at: scheduler.now, lastPid: FIRST_PID });
    // Other programs come first. Even the time since the boot may be the same.
    for (const { pid, startTime } of before) if (random().chance(0.4)) addStranger(machine, pid, startTime);
  },
  /** Somebody else gets the numbers of processes of Troupe that ended last. */
  giveAway(): number {
    const ended = this.processes.filter(({ exit }) => exit).slice(-REMEMBERED);
    return ended.filter((process) => random().chance(0.7) && replace(process, 0)).length;
  },
};

const random = () => scheduler.random('processes');
const waitMs = (): number => random().between(0, FREE_MS);

function bootOf(machine: string): { count: number; at: number; lastPid: number } {
  const boot = table.boots.get(machine) ?? { count: 0, at: 0, lastPid: FIRST_PID };
  table.boots.set(machine, boot);
  return boot;
}

export function bootIdOf(machine: string): string {
  return `boot ${bootOf(machine).count} of ${machine}`;
}

/** Whether a process is known to the system. One whose parent is gone is reaped at once. */
function isListed({ exit, isReaped, parent }: SimulatedProcess): boolean {
  return !exit || (!isReaped && parent.isAlive);
}

function listed(machine: string): SimulatedProcess[] {
  return [...table.processes, ...table.strangers].filter((one) => one.machine === machine && isListed(one));
}

export function find(machine: string, pid: number): SimulatedProcess | undefined {
  return listed(machine).find((one) => one.pid === pid);
}

/** The processes that carry a marker in their environment; that of a zombie is empty. */
export function marked(machine: string): MarkedProcess[] {
  return table.running(machine).map(({ pid, marker, command }) => ({ pid, marker, command: command.join(' ') }));
}

/** A number is given away only if no process and no group has it. */
function isFree(machine: string, pid: number): boolean {
  return !listed(machine).some((one) => one.pid === pid || one.group === pid);
}

/** Gives the number of a process that ended to a stranger. Whether there was a way. */
function replace({ machine, pid, startTime }: SimulatedProcess, looks: number): boolean {
  const now = ticks(machine);
  // The system does not reuse a number within the hundredth of a second in which it gave it away.
  if (isFree(machine, pid) && now !== startTime && pid <= bootOf(machine).lastPid) {
    addStranger(machine, pid, now);
    return true;
  }
  const again = (): void => void replace({ machine, pid, startTime } as SimulatedProcess, looks - 1);
  if (looks > 0) scheduler.plan(waitMs(), again, WORLD);
  return false;
}

/** Someone else's process. Most lead a group, as the programs that a shell starts do. */
function addStranger(machine: string, pid: number, startTime: string): void {
  const group = random().chance(0.8) ? pid : 1;
  const about = { marker: '', command: ['somebody', 'else'], machine, pid, group, startTime };
  const stranger = newProcess(about, newOwner('somebody', machine));
  table.strangers.push(stranger);
  const end = (): void => {
    table.end(stranger, { code: 0, signal: null });
    stranger.isReaped = true;
    table.strangers = table.strangers.filter((one) => one !== stranger);
  };
  scheduler.plan(random().between(1_000, 120_000), end, WORLD);
}

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

/**
 * Adds a process that does nothing and ends only when it is killed: a program left it behind, in its own group or in one
 * of its own.
 */
export function leaveBehind(program: SimulatedProcess, { leavesGroup }: { leavesGroup: boolean }): void {
  const { marker, machine, command, group } = program;
  const about = { marker, command: [`child of ${command[0]}`], machine, ...(!leavesGroup && { group }) };
  addProcess(about, newOwner(`${machine}/child`, machine));
}

interface NewProcess {
  readonly marker: string;
  readonly command: readonly string[];
  readonly machine: string;
  readonly pid: number;
  readonly group: number;
  readonly startTime: string;
}

/** Starts a process of Troupe. Without a group it leads a new one. */
export function addProcess(
  about: Pick<NewProcess, 'marker' | 'command' | 'machine'> & { readonly group?: number },
  parent: Owner,
): SimulatedProcess {
  const { machine } = about;
  const boot = bootOf(machine);
  do boot.lastPid++;
  while (!isFree(machine, boot.lastPid));
  const pid = boot.lastPid;
  const process = newProcess({ group: pid, ...about, pid, startTime: ticks(machine) }, parent);
  table.processes.push(process);
  return process;
}

function newProcess(about: NewProcess, parent: Owner): SimulatedProcess {
  const { machine, pid } = about;
  const stderr = openPipe(parent);
  return {
    ...about,
    owner: newOwner(`${machine}/${pid}`, machine, pid),
    parent,
    terminate: new AbortController(),
    stdout: openPipe(parent),
    stderr,
    complain: (text) => void scheduler.plan(0.1, () => stderr.emit('data', Buffer.from(text)), parent),
    exit: undefined,
    ended() {},
    isReaped: false,
  };
}

function ticks(machine: string): string {
  return String(Math.floor((scheduler.now - bootOf(machine).at) / 10));
}

/** The system call of Node's `process.kill`: a negative number is a group, and signal 0 only looks. */
export function kill(target: number, signal: NodeJS.Signals | 0 = 'SIGTERM'): true {
  const { machine, name } = scheduler.owner();
  const there = listed(machine).filter(({ pid, group }) => (target < 0 ? group === -target : pid === target));
  const other = table.others.get(target);
  if (there.length === 0 && !other?.isAlive) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
  if (signal === 0) return true;
  if (other?.isAlive) table.struck(`${name} sends ${signal} to ${other.name}`);
  for (const process of there) {
    if (process.marker === '') table.struck(`${name} sends ${signal} to ${target}, which is somebody else's`);
    deliver(process, signal);
  }
  return true;
}

function deliver(process: SimulatedProcess, signal: NodeJS.Signals): void {
  if (process.exit) return;
  if (signal === 'SIGKILL') table.end(process, { code: null, signal });
  // A stopped process gets it when it goes on.
  else scheduler.plan(0, () => process.terminate.abort(), process.owner);
}

/** The processes of members that run. */
export function members(): SimulatedProcess[] {
  return table.running().filter(({ marker, command }) => marker.startsWith('member-') && !isAgent(command));
}

/** The processes of gates that run, and what those left behind. */
export function gates(): SimulatedProcess[] {
  return table.running().filter(({ marker }) => marker.startsWith('hook-'));
}

/** The command line of an agent's program, which carries the marker of its member. */
export const AGENT: readonly [string, ...string[]] = ['agent'];

export function isAgent(command: readonly string[]): boolean {
  return command[0] === AGENT[0];
}

/** The programs of agents whose members are gone. */
export function orphans(): SimulatedProcess[] {
  const alive = new Set(members().map(({ marker }) => marker));
  return table.running().filter(({ marker, command }) => isAgent(command) && !alive.has(marker));
}

/** Whether a process is the one of a member. */
export function runsMember({ command }: SimulatedProcess, memberId: string): boolean {
  return command.join(' ').includes(`--agent ${memberId} `);
}
