// Stands in for node:child_process in src/agents/process.ts: starts simulated processes.
import { EventEmitter } from 'node:events';
import { addProcess, table } from '../processes.ts';
import type { SimulatedProcess } from '../processes.ts';
import { scheduler } from '../scheduler.ts';

interface SpawnOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdio: readonly [unknown, unknown, unknown];
}

/** What a parent has of its child. */
class Child extends EventEmitter {
  readonly pid: number | undefined;
  readonly stdin = Object.assign(new EventEmitter(), { end() {} });
  readonly stdout: SimulatedProcess['stdout'] | null;
  readonly stderr: SimulatedProcess['stderr'] | null;

  constructor(process: SimulatedProcess | undefined, hasPipes: boolean) {
    super();
    this.pid = process?.pid;
    this.stdout = hasPipes && process ? process.stdout : null;
    this.stderr = hasPipes && process ? process.stderr : null;
  }
}

export function spawn(file: string, args: readonly string[], { cwd, env, stdio }: SpawnOptions): Child {
  const marker = env['TROUPE_PROCESS'] ?? '';
  const parent = scheduler.owner();
  const options = { command: [file, ...args] as [string, ...string[]], cwd, env, marker };
  const takesMs = scheduler.random('processes').between(1, 20);
  const refusal = table.refuse(options);
  if (refusal !== undefined) {
    const child = new Child(undefined, false);
    scheduler.plan(takesMs, () => child.emit('error', new Error(refusal)), parent);
    return child;
  }
  const process = addProcess({ command: options.command, marker, machine: parent.machine }, parent);
  const child = new Child(process, stdio[1] === 'pipe');
  const run = (): void =>
    void table.program(options, process.terminate.signal, process).then(
      (end) => table.end(process, typeof end === 'number' ? { code: end, signal: null } : { code: null, signal: end }),
      () => table.end(process, { code: 1, signal: null }),
    );
  scheduler.plan(1, run, process.owner);
  scheduler.plan(takesMs, () => child.emit('spawn'), parent);
  const ended = (): void => {
    process.isReaped = true;
    child.emit('exit', process.exit?.code, process.exit?.signal);
  };
  // Nobody hears of the end of its child before it has heard of its start.
  const heardFrom = scheduler.now + takesMs;
  process.ended = () => void scheduler.plan(Math.max(0.1, heardFrom - scheduler.now), ended, parent);
  return child;
}
