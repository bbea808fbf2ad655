import { constants } from 'node:fs';
import { lstat, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Checkout } from '../checkout.ts';
import type { DepotHandle } from '../depot/handle.ts';
import { splitZero } from '../git.ts';
import { inFolder, toText } from '../paths.ts';
import { freshName, isFolder } from '../places.ts';
import type { Places } from '../places.ts';
import type { Opened } from '../workspace.ts';

/** What to copy, and where. */
export interface Copying {
  readonly handle: DepotHandle;
  readonly places: Places;
  readonly checkout: Pick<Checkout, 'folder'>;
  /** The new folder, and an index that has its files. */
  readonly folder: string;
  readonly index: string;
  readonly patterns: readonly string[];
}

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The file in a project that names ignored files for new folders; Claude Code reads the same. */
const INCLUDE = '.worktreeinclude';

/**
 * Copies ignored files of the checkout that patterns name, such as `.env`. A file that is not ignored would end up in a
 * save, so it is not copied. Only regular files are; no link is followed on either side.
 */
export async function copyIgnored(copying: Copying): Promise<Pick<Opened, 'copied' | 'notCopied'>> {
  const { handle, places, checkout, folder, index, patterns } = copying;
  const included = await readFile(join(checkout.folder, INCLUDE), 'utf8').catch(() => '');
  if (patterns.length === 0 && included === '') return { copied: [], notCopied: [] };
  if (!(await isFolder(checkout.folder))) {
    return { copied: [], notCopied: patterns.map((path) => ({ path, reason: 'the checkout is not in its place' })) };
  }

  const list = freshName(places.making);
  await writeFile(list, `${included}\n${patterns.join('\n')}\n`);
  const place = { dir: handle.dir, index, tree: checkout.folder };
  const words = ['ls-files', '-z', '--others', '--ignored', `--exclude-from=${list}`];
  const named = splitZero((await handle.git.run(place, words)).out);
  await rm(list);
  const loose = await handle.git.run(place, ['ls-files', '-z', '--others', '--exclude-standard']);
  const isLoose = new Set(splitZero(loose.out).map((path) => path.toString('latin1')));

  const copied: string[] = [];
  const notCopied: { path: string; reason: string }[] = [];
  for (const path of named) {
    const reason = isLoose.has(path.toString('latin1'))
      ? 'it is not ignored, so every save would have it'
      : await copyFile({ from: checkout.folder, to: folder }, path);
    if (reason === undefined) copied.push(toText(path));
    else notCopied.push({ path: toText(path), reason });
  }
  for (const pattern of patterns.filter((one) => !/[*?[\]!#\\]/.test(one))) {
    const path = pattern.replace(/^\/|\/$/g, '');
    const isThere = await lstat(join(checkout.folder, path)).catch(() => undefined);
    if (!isThere) notCopied.push({ path, reason: 'it is not there' });
  }
  return { copied, notCopied };
}

/** Copies one file; returns why not, if it does not. */
async function copyFile({ from, to }: { from: string; to: string }, path: Buffer): Promise<string | undefined> {
  if (path.at(-1) === 47) return 'it is a repository of its own';
  const source = inFolder(from, path);
  const facts = await lstat(source).catch(() => undefined);
  if (!facts?.isFile()) return facts?.isSymbolicLink() ? 'it is a symbolic link' : 'it is not a regular file';
  if (!(await makeParents(to, path))) return 'a file or a link of the project is in the way';
  // Somebody may have put a link or a pipe in its place since.
  const input = await open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (!input) return 'it cannot be read';
  const opened = await input.stat();
  const target = inFolder(to, path);
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  const output = opened.isFile() ? await open(target, flags, facts.mode & 0o777).catch(() => undefined) : undefined;
  if (!output) {
    await input.close();
    return 'a file of the project is in its place';
  }
  await pipeline(input.createReadStream(), output.createWriteStream());
  return undefined;
}

/** Makes the folders above a path; false if something else than a folder is in the way. */
export async function makeParents(folder: string, path: Buffer): Promise<boolean> {
  for (let end = path.indexOf(47); end !== -1; end = path.indexOf(47, end + 1)) {
    const parent = inFolder(folder, path.subarray(0, end));
    await mkdir(parent).catch(() => {});
    if (!(await lstat(parent).catch(() => undefined))?.isDirectory()) return false;
  }
  return true;
}
