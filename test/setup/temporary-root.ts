import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';

/** Much more than tests were seen to use at a time. */
const ROOM = 2 * 2 ** 30;

/**
 * A folder of this run for all temporary files of its tests and of the programs that they start: in memory if there is
 * room, else where the system has them. The tests flush thousands of small files. On a disk, half of the time of such
 * tests is waiting for it (measured). The folder goes with the run; that of a killed run goes with the next one.
 */
export function temporaryRoot(): string {
  if (process.env['TMPDIR'] !== undefined) return tmpdir();
  const root = hasMemory() ? IN_MEMORY : tmpdir();
  for (const name of readdirSync(root)) {
    const pid = /^troupe-tests-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) removeOld(join(root, name));
  }
  const folder = join(root, `troupe-tests-${process.pid}`);
  // Some tests run programs as another user; each test's own folder is private.
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Several runs that begin at once may all remove it. What one cannot remove, the next run does. */
function removeOld(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    console.error(`${folder} is left of a killed run, and cannot be removed: ${(error as Error).message}`);
  }
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ROOM && process.availableMemory() >= 2 * ROOM && mayRunPrograms();
  } catch {
    // Only Linux has it.
    return false;
  }
}

/** Tests write programs into their folders and run them; some systems forbid that in memory. */
function mayRunPrograms(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const [, , , options = 'noexec'] = mounts.findLast((line) => line.split(' ')[1] === IN_MEMORY)?.split(' ') ?? [];
  return !options.split(',').includes('noexec');
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
