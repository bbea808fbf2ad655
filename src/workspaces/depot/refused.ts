import { shorten } from '../../core/text.ts';
import { GitError } from '../git-errors.ts';
import { withoutUnseen } from '../paths.ts';
import { inNewFolder } from '../places.ts';
import type { Places } from '../places.ts';
import type { ObjectId } from '../workspace.ts';
import { compare } from './compare.ts';
import type { RawChange } from './compare.ts';
import { borrowingFrom } from './handle.ts';
import type { DepotHandle } from './handle.ts';

/** A file that git saves here and refuses from elsewhere. */
export interface RefusedFile {
  readonly path: Buffer;
  /** The rule of git that it breaks, and how. */
  readonly why: string;
}

/**
 * Names of files whose content git checks, here and on other systems, where `GITMOD~1` is the same file. A name too many
 * only costs a look.
 */
const CHECKED = /(?:^|\/)(?:\.git(?:modules|attributes)|gi[^/]*~\d)[^/]*$/i;

/** Git quotes what is wrong, such as a URL, of any length. */
const WHY_LENGTH = 200;

/**
 * The changed files that other machines and git servers refuse: a `.gitmodules` with a URL that is an option, or a
 * `.gitattributes` with a line of more than 2,048 bytes. Git itself says so, in the way in which `takePack` asks it.
 */
export async function findRefused(
  handle: DepotHandle,
  places: Places,
  [from, to]: readonly [ObjectId, ObjectId],
): Promise<RefusedFile[]> {
  const changes = await compare(handle, [from, to]);
  const files = changes.filter(({ path, newMode }) => newMode.startsWith('10') && isChecked(path.toString()));
  return files.length === 0 ? [] : findIn(handle, places, files);
}

/** Halves find out which. */
async function findIn(handle: DepotHandle, places: Places, files: readonly RawChange[]): Promise<RefusedFile[]> {
  const why = await ask(handle, places, files);
  if (why === undefined) return [];
  if (files.length === 1) return files.map(({ path }) => ({ path, why: shorten(why, WHY_LENGTH) }));
  const middle = files.length >> 1;
  const first = await findIn(handle, places, files.slice(0, middle));
  return [...first, ...(await findIn(handle, places, files.slice(middle)))];
}

/** Whether git checks the content of a file with such a name. */
export function isChecked(path: string): boolean {
  return CHECKED.test(withoutUnseen(path));
}

/** Why git refuses these files; undefined if it takes them. Each is in a tree of its own, under its name. */
async function ask(
  { git, dir }: DepotHandle,
  places: Places,
  files: readonly RawChange[],
): Promise<string | undefined> {
  const entries = files.map(({ path, newMode, newId }) =>
    Buffer.concat([Buffer.from(`${newMode} blob ${newId}\t`), path.subarray(path.lastIndexOf('/') + 1), TREE_END]),
  );
  try {
    await inNewFolder(places, async (objects) => {
      const variables = { GIT_OBJECT_DIRECTORY: objects, ...borrowingFrom(dir) };
      const trees = await git.run({ dir }, ['mktree', '-z', '--batch'], { input: Buffer.concat(entries), variables });
      const input = `${trees.out.toString('latin1')}${files.map(({ newId }) => `${newId}\n`).join('')}`;
      const { out } = await git.run({ dir }, ['pack-objects', '--stdout', '--quiet'], { input, variables });
      await git.run({ dir }, ['index-pack', '--stdin', '--strict'], { input: out, variables });
    });
    return undefined;
  } catch (error) {
    const why = error instanceof GitError && /^error: object [0-9a-f]+: (.*)$/m.exec(error.complaint)?.[1];
    if (why) return why;
    throw error;
  }
}

/** The end of an entry, and an empty one after it: the end of a tree. */
const TREE_END = Buffer.from([0, 0]);
