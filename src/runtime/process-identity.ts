import { readFileSync } from 'node:fs';

/** Which process is meant, also after its number was given to another one. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from the boot to its start; null where the system does not tell. */
  readonly startTime: number | null;
  readonly bootId: string | null;
}

/** The process that asks. */
export function identifySelf(): ProcessIdentity {
  return { pid: process.pid, startTime: readStartTime(process.pid), bootId: readBootId() };
}

/** Whether that very process runs. Where start times are unknown, whether any process has its number. */
export function isRunning({ pid, startTime, bootId }: ProcessIdentity): boolean {
  if (bootId !== readBootId() || !hasProcess(pid)) return false;
  return startTime === null || startTime === readStartTime(pid);
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The 22nd field of /proc/PID/stat; the second, a name in parentheses, may hold blanks and parentheses itself. */
function readStartTime(pid: number): number | null {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended: it holds no lock and no socket.
  if (!fields || fields[0] === 'Z') return null;
  return Number(fields[19]);
}

function readBootId(): string | null {
  return read('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
