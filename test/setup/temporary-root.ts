import { readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const IN_MEMORY = '/dev/shm';
/** The tests of a whole run need at most about 200 MB at a time (measured). */
const ROOM = 2 * 2 ** 30;

/**
 * Where tests put their temporary folders: in memory if there is room, else where the system has them. The tests flush
 * thousands of small files. On a disk, half of the time of such tests is waiting for it (measured).
 */
export function temporaryRoot(): string {
  if (process.env['TMPDIR'] !== undefined) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    const hasRoom = bavail * bsize >= ROOM && process.availableMemory() >= 2 * ROOM;
    return hasRoom && mayRunPrograms() ? IN_MEMORY : tmpdir();
  } catch {
    // Only Linux has it.
    return tmpdir();
  }
}

/** Tests write programs into their folders and run them; some systems forbid that in memory. */
function mayRunPrograms(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const [, , , options = 'noexec'] = mounts.findLast((line) => line.split(' ')[1] === IN_MEMORY)?.split(' ') ?? [];
  return !options.split(',').includes('noexec');
}
