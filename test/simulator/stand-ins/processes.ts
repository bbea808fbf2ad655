import type { MarkedProcess, ProcessTable } from '../../../src/agents/process-table.ts';
// Stands in for src/agents/process.ts: the processes of the simulated machines.
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

/** Runs a program until it ends by itself; `signal` is SIGTERM. Returns its exit code. */
export type Program = (options: ProcessOptions, signal: AbortSignal) => Promise<number>;

export interface SimulatedProcess {
  readonly pid: number;
  readonly marker: string;
  readonly command: readonly string[];
  readonly machine: string;
  readonly owner: Owner;
  readonly terminate: AbortController;
  readonly boot: number;
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
  reset(program: Program): void {
    this.processes = [];
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
  },
};

export async function startProcess(options: ProcessOptions) {
  const parent = scheduler.owner();
  const { machine } = parent;
  const pid = 1_000 + table.processes.length;
  const owner = newOwner(`${machine}/${pid}`, machine);
  const boot = table.boots.get(machine) ?? 0;
  const { command, marker } = options;
  const terminate = new AbortController();
  const process: SimulatedProcess = {
    pid,
    marker,
    command,
    machine,
    owner,
    terminate,
    boot,
    onExit: [],
    exit: undefined,
  };
  table.processes.push(process);
  scheduler.plan(
    1,
    () => {
      table.program(options, terminate.signal).then(
        (code) => table.end(process, { code, signal: null }),
        () => table.end(process, { code: 1, signal: null }),
      );
    },
    owner,
  );
  const exited = whenExited(process);
  await later(scheduler.random('processes').between(1, 20));
  return {
    child: undefined,
    identity: identify(pid),
    exited,
    stop: (graceMs = 5_000) => stopProcess(pid, marker, exited, graceMs),
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
  pid: number,
  marker: string,
  exited: Promise<unknown>,
  graceMs = 5_000,
): Promise<'exited' | 'terminated' | 'killed'> {
  const process = find(pid);
  if (!process || process.exit) return 'exited';
  signalGroup(pid, 'SIGTERM');
  const isGone = await Promise.race([exited.then(() => true), later(graceMs).then(() => false)]);
  if (!isGone) signalGroup(pid, 'SIGKILL');
  await endMarked(marker);
  return isGone ? 'terminated' : 'killed';
}

export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  const process = find(pid);
  if (!process || process.exit) return;
  if (signal === 'SIGKILL') table.end(process, { code: null, signal });
  // A stopped process gets it when it goes on.
  else scheduler.plan(0, () => process.terminate.abort(), process.owner);
}

export async function endMarked(marker: string): Promise<number> {
  const found = findMarked(marker);
  for (const pid of found) signalGroup(pid, 'SIGKILL');
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
