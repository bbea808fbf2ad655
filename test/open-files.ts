import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { TestContext } from 'vitest';

/** Skips a test where nothing tells which files this process has open. */
export function needOpenFiles(context: TestContext): void {
  context.skip(!existsSync('/proc/self/fdinfo'), 'only /proc shows what a process has open');
}

/** The files below a folder that this process has open. */
export function openFilesIn(folder: string): string[] {
  return openFiles().flatMap(({ path }) => (path.startsWith(`${folder}/`) ? [path] : []));
}

/** How many files and folders this process watches. */
export function countWatches(): number {
  const watching = openFiles().filter(({ path }) => path.endsWith('inotify'));
  const told = watching.map(({ fd }) => readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'));
  return told.flatMap((text) => text.match(/^inotify wd:/gm) ?? []).length;
}

function openFiles(): { fd: string; path: string }[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [{ fd, path: readlinkSync(`/proc/self/fd/${fd}`) }];
    } catch {
      // The one that lists the others is closed by now.
      return [];
    }
  });
}
