import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TeamError } from '../../core/errors.ts';
import { putAway } from '../places.ts';
import type { Places } from '../places.ts';

/**
 * Whether the folder of a workspace, and the team's above it, are real folders. An agent can remove its folder or put a
 * link there, and what reads or writes through a link changes files that are not the member's.
 */
export async function isInPlace(folder: string): Promise<boolean> {
  for (const path of [dirname(folder), folder]) if ((await look(path)) !== 'folder') return false;
  return true;
}

/** Refuses to go on if the folder was removed or replaced during a call. The next call makes it again. */
export async function requireInPlace(folder: string): Promise<void> {
  if (await isInPlace(folder)) return;
  throw new TeamError('conflict', `${folder} was removed or replaced by something else meanwhile: try again`);
}

/** Moves what is no folder to the trash. A link is moved itself, never what it leads to. */
export async function clearPlace(places: Places, folder: string, label: string): Promise<void> {
  for (const path of [dirname(folder), folder]) if ((await look(path)) === 'other') await putAway(places, path, label);
}

const MISSING = new Set<string | undefined>(['ENOENT', 'ENOTDIR']);

async function look(path: string): Promise<'folder' | 'other' | 'nothing'> {
  try {
    return (await lstat(path)).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    // Behind any other error there may be a folder with work in it.
    if (MISSING.has((error as NodeJS.ErrnoException).code)) return 'nothing';
    throw new TeamError('storage', `Cannot look at ${path}: ${(error as Error).message}`, { cause: error });
  }
}
