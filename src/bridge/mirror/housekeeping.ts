import { constants, copyFileSync, lstatSync, mkdirSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { join, relative } from 'node:path';
import { TEMPORARY } from '../json-file.ts';
import { FILE_BYTES } from '../json-text.ts';
import type { NativePaths } from '../layout.ts';
import { TOMBSTONE } from '../lock.ts';
import type { NativeTeam } from '../snapshot.ts';
import type { Shared } from './shared.ts';

/** Removes what a daemon left in native directories when it was killed during a write. */
export interface Debris {
  /** Removes what has not changed since an earlier look. Cheap: does nothing if called again too soon. */
  look(): void;
}

/** A temporary file exists for less than 1 ms. Measured by the monotonic clock, since the other may jump. */
const SILENT_MS = 60_000;

/** Watches the directories of a native team. Touches only names that we alone use. */
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
    // Gone, or not empty: then it is not ours.
  }
}

/** A write in progress takes far less than this. */
const SURELY_BROKEN_MS = 2_000;

/**
 * Copies each file that stays unreadable, before a person or Claude Code overwrites it. The file itself stays, and
 * people are told about both. One copy for each state of a file.
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
      report(
        `${path} cannot be read, so Troupe does not change it; a copy of it is ${copy}: fix the file or remove it`,
      );
    }
  };
}
