import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Checkout } from '../checkout.ts';
import type { Depot } from '../depot.ts';
import { joinZero, toBytes } from '../paths.ts';
import { inNewFolder, putAway } from '../places.ts';
import type { Places } from '../places.ts';
import { markSubmodules } from '../submodules.ts';
import type { ObjectId, Opened } from '../workspace.ts';
import { copyIgnored } from './copy.ts';
import { makeDotGit } from './dot-git.ts';
import { clearPlace } from './in-place.ts';
import { filesIn, writeState } from './state.ts';

/** A folder to make. */
export interface NewFolder {
  readonly places: Places;
  readonly depot: Depot;
  readonly checkout: Checkout;
  /** Where it will be, and what is kept about it. */
  readonly folder: string;
  readonly about: string;
  /** What it begins with, and the commit that its work counts from. */
  readonly tree: ObjectId;
  readonly base: ObjectId;
  readonly copy: readonly string[];
  readonly label: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes a folder beside its place and renames it, so that a kill leaves debris and never half a folder. The files are
 * written with the depot's own git directory; the agent's `.git` is made from files, without a git command.
 */
export async function makeFolder(options: NewFolder): Promise<Omit<Opened, 'how'>> {
  const { places, depot, checkout, tree, base, copy, signal } = options;
  const { git, dir } = depot.handle;
  return inNewFolder(places, async (draft) => {
    const about = join(draft, 'about');
    const files = filesIn(join(draft, 'folder'), about);
    await mkdir(files.folder);
    await mkdir(about);
    const place = { dir, index: files.index, tree: files.folder };
    await git.run(place, ['read-tree', '-m', '-u', tree], { signal });
    const submodules = await markSubmodules({ ...place, git, folder: files.folder });
    const { copied, notCopied } = await copyIgnored({
      handle: depot.handle,
      places,
      checkout,
      folder: files.folder,
      index: files.index,
      patterns: copy,
    });
    await writeFile(files.copied, joinZero(copied.map(toBytes)));
    await makeDotGit(files.folder, { handle: depot.handle, places, checkout, index: files.index, base });
    await writeState(files.state, { depot: depot.id, base });
    await moveIn(options, { folder: files.folder, about });
    return { copied, notCopied, submodules };
  });
}

/** The index first: without its folder it is no workspace, and the folder is made again. */
async function moveIn(
  { places, folder, about, label }: NewFolder,
  made: { folder: string; about: string },
): Promise<void> {
  await clearPlace(places, folder, label);
  for (const [from, to] of [
    [made.about, about],
    [made.folder, folder],
  ] as const) {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await putAway(places, to, label);
    await rename(from, to);
  }
}
