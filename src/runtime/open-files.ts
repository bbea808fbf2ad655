import { opendirSync, readFileSync } from 'node:fs';
import type { Health } from './health.ts';

const LOOK_EVERY_MS = 2_000;

/** Above this share of what the system allows, it is time to say so. */
const MANY = 0.9;

/**
 * Says when files and connections run out. New connections are then closed as they come, which Node tells nobody; the
 * journal's files are open already, so what is connected goes on working. Returns the way to stop.
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

/** Infinitely many are open where not even the question can be asked; where there is no /proc, none. */
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
