// Fails the run if a process that a test started is still there when all tests are done.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Every process of this run inherits it, however it was started, so survivors are found without bookkeeping. */
export const MARK = 'TROUPE_TEST_RUN';
/** Set by test/setup/file.ts, to name the test file that a survivor came from. */
const FILE = 'TROUPE_TEST_FILE';
/** Time for processes that were told to end; on a busy machine they may need a while. */
const GRACE_MS = Number(process.env['TROUPE_TEST_GRACE_MS'] ?? 30_000);

export interface Survivor {
  readonly pid: number;
  readonly command: string;
  readonly file: string;
}

/** Marks this run; vitest's workers, and all that the tests start, inherit the mark. */
export function setup(): void {
  // Vitest calls this for each project. A run inside a test inherits the mark of the outer run, and needs its own.
  if (!process.env[MARK]?.startsWith(`${process.pid}-`)) process.env[MARK] = `${process.pid}-${Date.now()}`;
}

/** Waits for what is about to end, then lists, kills and reports the rest. */
export async function teardown(): Promise<void> {
  const deadline = Date.now() + GRACE_MS;
  let survivors = findSurvivors();
  while (survivors.length > 0 && Date.now() < deadline) {
    await sleep(50);
    survivors = findSurvivors();
  }
  if (survivors.length === 0) return;
  for (const { pid } of survivors) kill(pid);
  const list = survivors.map(({ pid, command, file }) => `  ${pid}  ${command}  (from ${file})`);
  throw new Error(`The tests left ${survivors.length} process(es) behind, now killed:\n${list.join('\n')}`);
}

function findSurvivors(): Survivor[] {
  return findMarked(process.env[MARK] ?? '').filter(({ command }) => !command.includes('vitest/dist/workers/'));
}

/** The processes of a run, and those that they have started. */
export function findMarked(mark: string): Survivor[] {
  return listPids().flatMap((pid) => {
    const environment = readProc(pid, 'environ');
    if (!environment.includes(`${MARK}=${mark}`)) return [];
    const command = readProc(pid, 'cmdline').join(' ').trim();
    // An empty command line is a zombie: dead, and only waiting for its parent to notice.
    if (command === '') return [];
    const file = environment.find((line) => line.startsWith(`${FILE}=`))?.slice(FILE.length + 1);
    return [{ pid, command, file: file ?? 'an unknown test' }];
  });
}

/** The processes of this machine. Without /proc there are none, and nothing is checked. */
function listPids(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}

/** The entries of a file under /proc; none if the process is gone or not ours. */
function readProc(pid: number, name: 'environ' | 'cmdline'): string[] {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in the meantime.
  }
}
