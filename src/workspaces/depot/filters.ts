import { constants } from 'node:fs';
import { link, mkdir, readdir, access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Checkout } from '../checkout.ts';
import { splitZero } from '../git.ts';
import type { ObjectId } from '../workspace.ts';
import type { DepotHandle } from './handle.ts';

/**
 * The settings of git-lfs, as `git lfs install` writes them. Nothing is downloaded, least of all from an address that a
 * file in the folder names: a large file that is not here stays a pointer.
 */
const LFS = [
  ['filter.lfs.clean', 'git-lfs clean -- %f'],
  ['filter.lfs.smudge', 'git-lfs smudge -- %f'],
  ['filter.lfs.process', 'git-lfs filter-process'],
  ['filter.lfs.required', 'true'],
  ['lfs.url', 'file:///nowhere'],
  ['lfs.skipDownloadErrors', 'true'],
] as const;

/** The filters that a commit's own `.gitattributes` files name. */
export async function filtersOf({ run, askLasting }: DepotHandle, commit: ObjectId): Promise<Set<string>> {
  const { out } = await askLasting(['ls-tree', '-r', '-z', commit]);
  const ids = splitZero(out).flatMap((entry) => {
    const tab = entry.indexOf(9);
    const [mode = '', , id = ''] = entry.toString('latin1', 0, tab).split(' ');
    return mode.startsWith('100') && /(?:^|\/)\.gitattributes$/.test(entry.toString('latin1', tab + 1)) ? id : [];
  });
  const found = new Set<string>();
  for (const id of ids.slice(0, MOST_FILES)) {
    const text = (await run(['cat-file', 'blob', id], { maxBytes: 1024 * 1024, cut: true })).out.toString();
    for (const [, name = ''] of text.matchAll(/(?:^|\s)filter=(\S+)/gm)) found.add(name);
  }
  return found;
}

/** More than this many attribute files are not read; projects have one or two. */
const MOST_FILES = 200;

/**
 * Makes the depot store large files as pointers, if the project does and git-lfs is here. Otherwise a save would hold
 * the large file itself. Returns the filters that stay unknown.
 */
export async function setFilters(
  handle: DepotHandle,
  checkout: Checkout,
  { commit, path }: { commit: ObjectId; path: string },
): Promise<ReadonlySet<string>> {
  const filters = await filtersOf(handle, commit);
  if (!filters.has('lfs') || !(await isInstalled('git-lfs', path))) return filters;
  for (const [key, value] of LFS) await handle.run(['config', key, value]);
  await linkLargeFiles(join(checkout.commonDir, 'lfs', 'objects'), join(handle.dir, 'lfs', 'objects'));
  filters.delete('lfs');
  return filters;
}

/** Gives the depot the large files of the checkout, so that none has to be downloaded. */
async function linkLargeFiles(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch(() => []);
  if (entries.length > 0) await mkdir(to, { recursive: true });
  for (const entry of entries) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkLargeFiles(source, target);
    // On another disk, or there already. What is missing stays a pointer in the folder.
    else if (entry.isFile()) await link(source, target).catch(() => {});
  }
}

/** Whether a program is in a folder of a PATH. */
export async function isInstalled(program: string, path: string): Promise<boolean> {
  for (const folder of path.split(delimiter).filter((part) => part.startsWith('/'))) {
    const isThere = await access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return true;
  }
  return false;
}
