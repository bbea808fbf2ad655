import { lstatSync, readdirSync, renameSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { FILES, FOLDERS, ONLY_OURS } from './home-entries.ts';

const isFile = (found: Stats): boolean => found.isFile();
const isFolder = (found: Stats): boolean => found.isDirectory();

/** Names in the state directory, by the kind that a daemon needs there. `config.yaml` is a person's, so it stays. */
const KINDS: Readonly<Record<string, (found: Stats) => boolean>> = {
  ...Object.fromEntries(FILES.map((name) => [name, isFile])),
  ...Object.fromEntries(FOLDERS.map((name) => [name, isFolder])),
  'daemon.sock': (found) => found.isSocket(),
};

const MOVED = /^(?<name>.+)\.moved(-\d+)?$/;

/**
 * Moves things out of the way that are of another kind than the daemon needs there, such as a folder named `port`. All
 * this can be made again; it must not keep a daemon from its teams.
 */
export function clearWay(directory: string): void {
  const names = readdirSync(directory);
  if (!names.some((name) => ONLY_OURS.includes(name))) return;
  for (const name of names) {
    const path = join(directory, name);
    const found = Object.hasOwn(KINDS, name) ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
    // A person may keep something elsewhere, behind a link.
    if (found === undefined || found.isSymbolicLink() || KINDS[name]?.(found) !== false) continue;
    const taken = names.filter((other) => MOVED.exec(other)?.groups?.['name'] === name).length;
    try {
      renameSync(path, `${path}.moved${taken === 0 ? '' : `-${taken}`}`);
    } catch {
      // Another command was first. Otherwise whoever needs the path says what is wrong.
    }
  }
}

/** The names of things that were moved out of the way. */
export function listMoved(directory: string): string[] {
  return readdirSync(directory).filter((name) => Object.hasOwn(KINDS, MOVED.exec(name)?.groups?.['name'] ?? ''));
}
