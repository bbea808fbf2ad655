import type { ProcessTable } from '../agents/process-table.ts';
import { TABLE } from '../agents/process.ts';
import type { Health } from './health.ts';

const LOOK_EVERY_MS = 2_000;

/** The share of the limit above which a problem is raised. */
const MANY = 0.9;

/**
 * Raises a problem when file descriptors run out. Node then closes new connections without telling anyone. The
 * journal's files are already open, so existing connections go on. Returns the way to stop.
 */
export function watchOpenFiles(health: Health, table: Pick<ProcessTable, 'openFiles'> = TABLE): () => void {
  const timer = setInterval(() => {
    const { open, limit } = count(table);
    if (open < limit * MANY) return health.clear('files');
    const what = open === Infinity ? 'No more files can be opened' : `${open} of ${limit} files are open`;
    health.raise('files', `${what}: new connections are closed; end some, or raise the limit (ulimit -n)`);
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Infinity if not even that can be looked up for lack of descriptors; 0 if the system does not tell. */
function count(table: Pick<ProcessTable, 'openFiles'>): { open: number; limit: number } {
  try {
    return table.openFiles();
  } catch (error) {
    const isOut = ['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '');
    return { open: isOut ? Infinity : 0, limit: isOut ? 1 : Infinity };
  }
}
