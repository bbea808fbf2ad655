import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The `statfs` types of in-memory file systems, where a flush costs nothing and a figure means nothing. */
const IN_MEMORY = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
]);

/** A folder for one run of a benchmark, on a real disk. */
export interface Workspace extends Disposable {
  readonly folder: string;
  /** `disk`, or the name of an in-memory file system if there was no other. */
  readonly disk: string;
}

/** Makes a folder on the project's disk, or else on that of the system's temporary folder. */
export function openWorkspace(): Workspace {
  const own = join(import.meta.dirname, '.tmp');
  mkdirSync(own, { recursive: true });
  const place = [own, tmpdir()].find((path) => diskOf(path) === 'disk') ?? own;
  const disk = diskOf(place);
  if (disk !== 'disk') console.error(`There is only ${disk} to write to: what flushes cost is not measured.`);
  return makeIn(place);
}

/** Makes a folder in memory if that many bytes are free there, else on the disk. For work without flushes. */
export function openMemory(bytes: number): Workspace {
  if (!existsSync(MEMORY) || diskOf(MEMORY) === 'disk') return openWorkspace();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < bytes ? openWorkspace() : makeIn(MEMORY);
}

const MEMORY = '/dev/shm';

function makeIn(place: string): Workspace {
  const folder = mkdtempSync(join(place, 'run-'));
  return { folder, disk: diskOf(place), [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

function diskOf(path: string): string {
  return IN_MEMORY.get(statfsSync(path).type) ?? 'disk';
}
