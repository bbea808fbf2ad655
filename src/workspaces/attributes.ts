import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { splitZero } from './git.ts';
import type { Git, GitPlace } from './git.ts';
import { inFolder } from './paths.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Git reads no larger ones. */
const MOST = 100 * 1024 * 1024;

/** Why such a file is in no save. */
export const NO_ENCODING = 'working-tree-encoding needs a value there, such as UTF-16';

/**
 * Whether a path is a `.gitattributes` with `working-tree-encoding` without a value. Git cannot write any tree with such
 * a file into a folder, so a save of it could not be restored, and once landed it would stop every member.
 */
export async function lacksEncoding(folder: string, path: Buffer): Promise<boolean> {
  if (!/(?:^|\/)\.gitattributes$/i.test(path.toString('latin1'))) return false;
  const file = await open(inFolder(folder, path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  try {
    const facts = await file?.stat();
    if (!file || !facts?.isFile() || facts.size > MOST) return false;
    return /^[^#\n]*\sworking-tree-encoding(?:\s|$)/m.test(await file.readFile('latin1'));
  } finally {
    await file?.close();
  }
}

/** All such files in a folder. */
export async function listLackingEncoding(git: Git, place: GitPlace, folder: string): Promise<Buffer[]> {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const found: Buffer[] = [];
  for (const path of splitZero((await git.run(place, words)).out)) {
    if (await lacksEncoding(folder, path)) found.push(path);
  }
  return found;
}
