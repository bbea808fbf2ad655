import { constants, copyFileSync, lstatSync, mkdirSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { join, relative } from 'node:path';
import { TEMPORARY } from '../json-file.ts';
import { FILE_BYTES } from '../json-text.ts';
import type { NativePaths } from '../layout.ts';
import { TOMBSTONE } from '../lock.ts';
import type { NativeTeam } from '../snapshot.ts';
import type { Shared } from './shared.ts';

/** Clears what a daemon left in native directories that was killed in the middle of a write. */
export interface Debris {
  /** Looks, and removes what has stood there since an earlier look; cheap, and does nothing where it was asked a moment ago. */
  look(): void;
}

/** A file stands under such a name for less than a millisecond; by the steady clock, as the other one may jump. */
const SILENT_MS = 60_000;

/** Begins to watch the directories of a native team. Only what bears a name that we alone give is touched. */
export function watchDebris(paths: NativePaths, silent = SILENT_MS): Debris {
  const seen = new Map<string, { readonly print: string; readonly since: number }>();
  let last = -Infinity;
  return {
    look() {
      const now = performance.now();
      if (now - last < silent / 2) return;
      last = now;
      const found = new Set<string>();
      for (const path of [paths.tasks, paths.team, paths.inboxes].flatMap(ours)) {
        const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
        if (!stats) continue;
        found.add(path);
        const print = `${stats.ino}-${stats.mtimeNs}`;
        const before = seen.get(path);
        if (before?.print !== print) seen.set(path, { print, since: now });
        else if (now - before.since >= silent) remove(path, stats);
      }
      for (const path of seen.keys()) if (!found.has(path)) seen.delete(path);
    },
  };
}

function ours(folder: string): string[] {
  try {
    return readdirSync(folder).flatMap((name) =>
      TEMPORARY.test(name) || TOMBSTONE.test(name) ? [join(folder, name)] : [],
    );
  } catch {
    return [];
  }
}

function remove(path: string, stats: BigIntStats): void {
  try {
    if (stats.isFile()) unlinkSync(path);
    else if (stats.isDirectory()) rmdirSync(path);
  } catch {
    // Gone, or not empty: then it is none of ours.
  }
}

/** What is half written is whole again in far less. */
const SURELY_BROKEN_MS = 2_000;

/**
 * Keeps a copy of each file that stays unreadable, before somebody or the program itself writes over it; the file is left as it is,
 * and people are told of both. One copy for each state of a file.
 */
export function watchUnreadable({ paths, report, trash }: Shared): (team: NativeTeam) => void {
  const folder = join(trash, 'unreadable');
  const kept = new Set<string>();
  return (team) => {
    for (const path of team.unreadable) {
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (!found?.isFile() || found.size === 0 || found.size > FILE_BYTES) continue;
      if (Date.now() - found.mtimeMs < SURELY_BROKEN_MS) continue;
      const name = `${paths.name}-${relative(join(paths.team, '../..'), path).replaceAll('/', '-')}-${Math.round(found.mtimeMs)}`;
      if (kept.has(name)) continue;
      kept.add(name);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const copy = join(folder, name);
      try {
        copyFileSync(path, copy, constants.COPYFILE_EXCL);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      report(`${path} cannot be read and is left as it is; a copy of it is ${copy}: mend the file or remove it`);
    }
  };
}
