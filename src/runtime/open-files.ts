import { opendirSync, readFileSync } from 'node:fs';
import type { Health } from './health.ts';

const LOOK_EVERY_MS = 2_000;

/** The share of the limit above which a problem is raised. */
const MANY = 0.9;

/**
 * Raises a problem when file descriptors run out. Node then closes new connections without telling anyone. The
 * journal's files are already open, so existing connections go on. Returns the way to stop.
 */
export function watchOpenFiles(health: Health, place = '/proc/self'): () => void {
  const timer = setInterval(() => {
    const { open, limit } = count(place);
    if (open < limit * MANY) return health.clear('files');
    const what = open === Infinity ? 'No more files can be opened' : `${open} of ${limit} files are open`;
    health.raise('files', `${what}: new connections are closed; end some, or raise the limit (ulimit -n)`);
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Infinity if not even /proc can be opened for lack of descriptors; 0 if there is no /proc. */
function count(place: string): { open: number; limit: number } {
  let open = 0;
  try {
    const folder = opendirSync(`${place}/fd`);
    while (folder.readSync()) open++;
    folder.closeSync();
    const limit = Number(/^Max open files +(\d+)/m.exec(readFileSync(`${place}/limits`, 'utf8'))?.[1] ?? Infinity);
    return { open, limit };
  } catch (error) {
    const isOut = ['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '');
    return { open: isOut ? Infinity : 0, limit: isOut ? 1 : Infinity };
  }
}
