import { constants, copyFileSync, lstatSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { FILE_BYTES } from '../json-text.ts';
import type { NativeTeam } from '../snapshot.ts';
import type { MirrorParts } from './parts.ts';

/** What is half written is whole again in far less. */
const SURELY_BROKEN_MS = 2_000;

/**
 * Keeps a copy of each file that stays unreadable, before somebody or the program itself writes over it; the file is left as it is,
 * and people are told of both. One copy for each state of a file.
 */
export function keepUnreadable({ paths, report, kept }: MirrorParts, team: NativeTeam, folder: string): void {
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
}
