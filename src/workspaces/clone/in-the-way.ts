import { mkdir, rename } from 'node:fs/promises';
import { TeamError } from '../../core/errors.ts';
import type { RawChange } from '../depot/compare.ts';
import { findInTheWay } from '../in-the-way.ts';
import { inFolder, toText } from '../paths.ts';
import { freshName } from '../places.ts';
import type { Places } from '../places.ts';
import { makeParents } from './copy.ts';

/**
 * Refuses if a file that no save has, such as an ignored one, is where the new tree has something. Git itself takes
 * ignored files for worthless and overwrites them.
 */
export async function requireFree(folder: string, changes: readonly RawChange[]): Promise<void> {
  const found = (await findInTheWay(folder, changes)).map(toText);
  if (found.length === 0) return;
  const names = found.slice(0, 5).map((path) => JSON.stringify(path));
  const more = found.length > names.length ? ` and ${found.length - names.length} more` : '';
  throw new TeamError(
    'conflict',
    `${names.join(', ')}${more} in ${folder} would be overwritten, and no save has them: move or remove them first`,
  );
}

/**
 * Moves what is in the way to the trash, in one folder with the same paths; returns the paths. Also for a refresh that
 * was interrupted. Before it began, nothing was in the way: so what is there then, it wrote itself, whole or in part.
 */
export async function clearWay(
  folder: string,
  changes: readonly RawChange[],
  { places, label }: { readonly places: Places; readonly label: string },
): Promise<string[]> {
  const found = await findInTheWay(folder, changes);
  await moveToTrash(folder, found, { places, label });
  return found.map(toText);
}

/** Moves files and folders to the trash, in one folder with the same paths. */
export async function moveToTrash(
  folder: string,
  paths: readonly Buffer[],
  { places, label }: { readonly places: Places; readonly label: string },
): Promise<void> {
  if (paths.length === 0) return;
  const trash = freshName(places.trash, `${Date.now()}-${label}-`);
  await mkdir(trash);
  for (const path of paths) {
    await makeParents(trash, path);
    await rename(inFolder(folder, path), inFolder(trash, path));
  }
}
