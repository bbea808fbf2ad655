import { createHash, randomBytes } from 'node:crypto';
import { link, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TeamError } from '../../core/errors.ts';
import { compareIndex } from '../depot/compare.ts';
import type { RawChange } from '../depot/compare.ts';
import { GitError } from '../git-errors.ts';
import { readId } from '../git.ts';
import type { Git } from '../git.ts';
import { isAboutPath } from '../stage.ts';
import { markSubmodules } from '../submodules.ts';
import type { ObjectId } from '../workspace.ts';

/** The daemon's own index of a member's folder: what of the folder it has seen. */
export interface IndexFile {
  /**
   * Removes the lock of a command that was killed: git had no time to do it, and every later command would fail. Only
   * for the one that works with the index now.
   */
  unlock(): Promise<void>;
  /** Tells whether the file is still the same: another value, if it was replaced or written since. */
  sign(): Promise<string>;
  /** What the index has, as a tree. */
  writeTree(): Promise<ObjectId>;
  /** What the index has, as a tree, and how that differs from a base. */
  compare(base: ObjectId, signal?: AbortSignal): Promise<{ tree: ObjectId; changes: readonly RawChange[] }>;
  /**
   * Keeps the file beside the one that replaces it, until `forget`. On a disk with `discard`, to free the blocks of a
   * replaced index of 10,000 files took 6 to 13 ms, twice in a save. So it is done after the save is acknowledged.
   */
  keep(): Promise<void>;
  /** Removes what was kept, without anybody waiting for it. */
  forget(): void;
  /** Makes later saves cheap; waits until a moment in which that is possible. */
  settle(): Promise<void>;
  /** The files changed: it has to settle again. */
  unsettle(): void;
  /**
   * Makes a missing or damaged index again, from the first of these trees that is whole. The files in the folder are
   * compared with it in full. Other errors are thrown.
   */
  makeAgain(error: unknown, trees: readonly ObjectId[]): Promise<void>;
  /**
   * The same before the first use by a daemon. After a power cut a page of the file may be missing: git does not look at
   * the checksum, and takes what is there for entries.
   */
  ensureWhole(trees: readonly ObjectId[]): Promise<void>;
}

/** The index of a folder. */
export function openIndex(files: { git: Git; dir: string; index: string; folder: string }): IndexFile {
  const { git, dir, index, folder } = files;
  const place = { dir, index, tree: folder };
  let isSettled = false;
  const kept: string[] = [];

  return {
    unlock: () => rm(`${index}.lock`, { force: true }),
    async sign() {
      const facts = await stat(index, { bigint: true }).catch(() => undefined);
      return facts ? `${facts.ino} ${facts.size} ${facts.mtimeNs} ${facts.ctimeNs}` : 'none';
    },
    writeTree,
    async compare(base, signal) {
      await keep();
      // Both at once. Neither is left running when the other fails: it would hold the lock of the index.
      const [tree, changes] = await Promise.allSettled([writeTree(), compareIndex(git, place, base, signal)]);
      if (tree.status === 'rejected') throw tree.reason;
      if (changes.status === 'rejected') throw changes.reason;
      return { tree: tree.value, changes: changes.value };
    },
    keep,
    forget,
    settle,
    unsettle: () => void (isSettled = false),
    async makeAgain(error, trees) {
      if (!(error instanceof GitError) || error.code !== 'corrupt') throw error;
      if (!(await readAgain(trees))) throw error;
    },
    async ensureWhole(trees) {
      if ((await hasChecksum()) || (await readAgain(trees))) return;
      throw new TeamError('corrupt', `${index} is damaged, and so is all that it could be made from again`);
    },
  };

  /** Whether the file ends with the hash of what is before. */
  async function hasChecksum(): Promise<boolean> {
    const bytes = await readFile(index).catch(() => Buffer.of());
    return [['sha1', 20] as const, ['sha256', 32] as const].some(([format, length]) => {
      const hash = createHash(format).update(bytes.subarray(0, -length)).digest();
      return hash.equals(bytes.subarray(-length));
    });
  }

  async function readAgain(trees: readonly ObjectId[]): Promise<boolean> {
    for (const tree of trees) {
      await rm(index, { force: true });
      const made = await git.run(place, ['read-tree', tree], { exits: [0, 128] });
      const isWhole = made.code === 0 && (await git.run(place, ['write-tree'], { exits: [0, 128] })).code === 0;
      if (!isWhole) continue;
      await markSubmodules(files);
      return true;
    }
    return false;
  }

  async function writeTree(): Promise<ObjectId> {
    return readId(await git.run(place, ['write-tree']));
  }

  async function keep(): Promise<void> {
    // The next daemon removes what is left with such a name.
    const beside = join(dirname(index), `tmp_${randomBytes(6).toString('hex')}`);
    try {
      await link(index, beside);
      kept.push(beside);
    } catch {
      // The disk knows no links, or there is no index.
    }
  }

  function forget(): void {
    for (const path of kept.splice(0)) void rm(path, { force: true }).catch(() => {});
  }

  /**
   * Git reads every file that is no older than the index, by the second, since it may have changed in that second. After
   * an opening or a refresh that is all of them, at each save. Once the second is over, the index is written again.
   */
  async function settle(): Promise<void> {
    if (isSettled) return;
    const written = (await stat(index).catch(() => undefined))?.mtimeMs ?? 0;
    if (Math.floor(Date.now() / 1000) <= Math.floor(written / 1000)) return;
    const words = ['update-index', '-q', '--ignore-submodules', '--force-write-index', '--refresh'];
    try {
      await git.run(place, words, { exits: [0, 1] });
      isSettled = true;
    } catch (error) {
      // Staging finds out which file that is.
      if (!isAboutPath(error)) throw error;
    }
  }
}
