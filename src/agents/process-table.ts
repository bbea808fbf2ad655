import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** What the system says about a process that exists. */
export interface ProcessEntry {
  /** Together with the PID, unique until the next boot. */
  readonly startTime: string;
  /** It has ended, and its parent has not reaped it yet. */
  readonly isZombie: boolean;
}

/** A process that carries a variable in its environment. */
export interface MarkedProcess {
  readonly pid: number;
  /** The value of the variable. */
  readonly marker: string;
  /** Its command line, words separated by spaces. It may be followed by its environment. */
  readonly command: string;
}

/** How a system tells its processes apart. The only code that reads other processes. */
export interface ProcessTable {
  /** The process with this PID; undefined if there is none, or if the system says nothing about it. */
  find(pid: number): ProcessEntry | undefined;
  /** Differs from boot to boot, because PIDs and start times repeat. Empty if unknown. */
  bootId(): string;
  /** All processes with the variable that we may look into. */
  withVariable(name: string): MarkedProcess[];
  /** The processor time that a process has used, in milliseconds; undefined if there is none, or if that is unknown. */
  cpuMs(pid: number): number | undefined;
  /** How often a process may be looked up, in milliseconds: `ps` is a program and takes longer than a file. */
  readonly everyMs: number;
}

/** The table of this system: Linux has files, others have `ps`. */
export function openProcessTable(proc = '/proc'): ProcessTable {
  return existsSync(`${proc}/self/stat`) ? procTable(proc) : psTable();
}

function procTable(proc: string): ProcessTable {
  const read = (path: string): string | undefined => {
    try {
      return readFileSync(`${proc}/${path}`, 'utf8');
    } catch {
      return undefined;
    }
  };
  /** The fields after the name, which may itself contain spaces and parentheses. */
  const statOf = (pid: number): string[] | undefined => {
    const text = read(`${pid}/stat`);
    return text?.slice(text.lastIndexOf(')') + 2).split(' ');
  };
  return {
    everyMs: 250,
    find(pid) {
      const fields = statOf(pid);
      return fields && { startTime: fields[19] ?? '', isZombie: fields[0] === 'Z' };
    },
    cpuMs(pid) {
      const fields = statOf(pid);
      return fields && (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    },
    bootId: () => read('sys/kernel/random/boot_id')?.trim() ?? '',
    withVariable: (name) =>
      readdirSync(proc)
        .map(Number)
        .filter((pid) => pid > 0)
        .flatMap((pid) => {
          const start = `${name}=`;
          const environment = read(`${pid}/environ`);
          // Few processes have it. To split every environment would take a third of the time.
          if (!environment?.includes(start)) return [];
          const marker = environment
            .split('\0')
            .find((variable) => variable.startsWith(start))
            ?.slice(start.length);
          if (marker === undefined) return [];
          return { pid, marker, command: read(`${pid}/cmdline`)?.replaceAll('\0', ' ') ?? '' };
        }),
  };
}

/** The unit of times in `/proc`; a hundredth of a second on every Linux. */
const TICK_MS = 10;

/** The option of `ps` that shows environments. macOS took the letter of the others for something else. */
const WITH_ENVIRONMENT = process.platform === 'darwin' ? ['-A', '-E', '-ww'] : ['axeww'];

/**
 * By `ps`, which all other systems have. It gives start times in seconds. The first process starts with the system, so
 * its start time tells one boot from another. macOS hides the environment of its own programs, such as /bin/sleep.
 */
function psTable(): ProcessTable {
  function find(pid: number): ProcessEntry | undefined {
    const [state, ...start] = ps(['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)])
      .trim()
      .split(/\s+/);
    if (!state || start.length === 0) return undefined;
    return { startTime: start.join(' '), isZombie: state.startsWith('Z') };
  }
  return {
    everyMs: 2_000,
    find,
    cpuMs: (pid) => parseTime(ps(['-o', 'time=', '-p', String(pid)]).trim()),
    bootId: () => find(1)?.startTime ?? '',
    withVariable(name) {
      const pattern = new RegExp(`^\\s*(\\d+) (.* ${name}=(\\S+).*)$`);
      return ps([...WITH_ENVIRONMENT, '-o', 'pid=,command='])
        .split('\n')
        .flatMap((line) => {
          const [, pid, command, marker] = pattern.exec(line) ?? [];
          return command === undefined || marker === undefined ? [] : { pid: Number(pid), marker, command };
        });
    },
  };
}

/** A time of `ps` in milliseconds: `1-02:03:04`, `02:03`, `2:03.45`. */
function parseTime(text: string): number | undefined {
  const [, days = '0', clock = ''] = /^(?:(\d+)-)?([\d:.]+)$/.exec(text) ?? [];
  if (clock === '') return undefined;
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return Math.round((Number(days) * 86_400 + seconds) * 1_000);
}

/** What `ps` prints; nothing if it fails, as it does for a PID that does not exist. */
function ps(options: readonly string[]): string {
  try {
    return execFileSync('ps', options, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 256 * 2 ** 20,
      // Otherwise its times depend on the caller's language and time zone.
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    });
  } catch {
    return '';
  }
}
