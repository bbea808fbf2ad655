import { execFileSync } from 'node:child_process';
import { existsSync, opendirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

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

/** A process that we can see. */
export interface SeenProcess {
  readonly pid: number;
  /** Its command line. By `ps`, words with spaces are several. */
  readonly words: readonly string[];
  /** Its working directory; empty if unknown. */
  readonly cwd: string;
}

/** How a system tells its processes apart. The only code that reads `/proc`, so other systems have another way. */
export interface ProcessTable {
  /** The process with this PID; undefined if there is none, or if the system says nothing about it. */
  find(pid: number): ProcessEntry | undefined;
  /** Differs from boot to boot, because PIDs and start times repeat. Empty if unknown. */
  bootId(): string;
  /** All processes with the variable that we may look into. */
  withVariable(name: string): MarkedProcess[];
  /** The processor time that a process has used, in milliseconds; undefined if there is none, or if that is unknown. */
  cpuMs(pid: number): number | undefined;
  /** All other processes that we can see. */
  all(): SeenProcess[];
  /** The environment of a process; undefined if we may not read it, or the system does not tell. */
  environmentOf(pid: number): Readonly<Record<string, string>> | undefined;
  /** The PID namespace of this process; empty on systems without them. */
  space(): string;
  /** How many files this process has open, and how many it may have. */
  openFiles(): { readonly open: number; readonly limit: number };
  /** How often a process may be looked up, in milliseconds: `ps` is a program and takes longer than a file. */
  readonly everyMs: number;
}

/** The table of this system: Linux has files, others have `ps`. */
export function openProcessTable(proc = '/proc'): ProcessTable {
  return existsSync(`${proc}/self/stat`) ? procTable(proc) : psTable();
}

/** How many entries a folder has, without a list of their names. */
function countEntries(path: string): number {
  const folder = opendirSync(path);
  try {
    let count = 0;
    while (folder.readSync()) count++;
    return count;
  } finally {
    folder.closeSync();
  }
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
    all: () =>
      readdirSync(proc)
        .map(Number)
        .filter((pid) => pid > 0 && pid !== process.pid)
        .flatMap((pid) => {
          const words = read(`${pid}/cmdline`)?.split('\0').slice(0, -1) ?? [];
          return words.length === 0 ? [] : [{ pid, words, cwd: linkAt(`${proc}/${pid}/cwd`) }];
        }),
    environmentOf(pid) {
      const words = read(`${pid}/environ`)?.split('\0');
      return words && Object.fromEntries(words.map((word) => word.split(/=(.*)/s).slice(0, 2) as [string, string]));
    },
    space: () => linkAt(`${proc}/self/ns/pid`),
    openFiles: () => ({
      open: countEntries(`${proc}/self/fd`),
      limit: Number(/^Max open files +(\d+)/m.exec(read('self/limits') ?? '')?.[1] ?? Infinity),
    }),
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

function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
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
    all: () =>
      ps(['-axo', 'pid=,command='])
        .split('\n')
        .flatMap((line) => {
          const [pid, ...words] = line.trim().split(/\s+/);
          return Number(pid) > 0 && Number(pid) !== process.pid ? [{ pid: Number(pid), words, cwd: '' }] : [];
        }),
    // Variables with spaces could not be told from the words after them.
    environmentOf: () => undefined,
    space: () => '',
    openFiles: () => ({ open: countEntries('/dev/fd'), limit: fileLimit() }),
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

/** The limit of open files, as Node knows it on every system. It does not change while a process runs. */
function fileLimit(): number {
  knownLimit ??= readLimit();
  return knownLimit;
}

let knownLimit: number | undefined;

function readLimit(): number {
  const report: typeof process.report & { excludeNetwork?: boolean } = process.report;
  // Otherwise it would look up the names of all addresses that it is connected to.
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const limit = Number(userLimits?.open_files?.soft);
  return limit > 0 ? limit : Infinity;
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
