import { copyFile, lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TeamError } from '../../core/errors.ts';
import type { Checkout } from '../checkout.ts';
import { GitError } from '../git-errors.ts';
import { readId, splitZero } from '../git.ts';
import type { GitPlace } from '../git.ts';
import { inFolder, toText } from '../paths.ts';
import { inNewFolder } from '../places.ts';
import type { Places } from '../places.ts';
import { stageFolder } from '../stage.ts';
import { markSubmodules } from '../submodules.ts';
import { WORK_LIMITS } from '../workspace.ts';
import type { Change, LeftOut, ObjectId, WorkLimits } from '../workspace.ts';
import { makeCommit } from './commit.ts';
import { compare, toChange } from './compare.ts';
import type { DepotHandle } from './handle.ts';

/** What the user has changed and not committed, as a commit. */
export interface Uncommitted {
  /** HEAD, if there are no changes. */
  readonly commit: ObjectId;
  readonly changes: readonly Change[];
  readonly leftOut: readonly LeftOut[];
}

/** Lists what differs from HEAD in the checkout. Reads its files, with an index of our own. */
export async function listUncommitted(handle: DepotHandle, places: Places, checkout: Checkout): Promise<Change[]> {
  return withIndex(handle, { places, checkout }, async (index, staged) => {
    const place = { dir: handle.dir, index, tree: checkout.folder };
    const words = ['diff-files', '-z', '--name-status', '--no-renames', '--ignore-submodules=all'];
    const changed = splitZero((await handle.git.run(place, words)).out);
    const fresh = splitZero((await handle.git.run(place, ['ls-files', '-z', '--others', '--exclude-standard'])).out);
    const added = new Set([...fresh, ...staged].map(toText));
    const found: Change[] = [...added].map((path) => ({ path, status: 'added' }));
    for (let i = 0; i + 1 < changed.length; i += 2) {
      const isGone = String(changed[i]) === 'D';
      found.push({ path: toText(changed[i + 1] as Buffer), status: isGone ? 'deleted' : 'modified' });
    }
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  });
}

/** Commits what differs from HEAD in the checkout, in the depot alone. */
export async function takeUncommitted(
  handle: DepotHandle,
  places: Places,
  options: { checkout: Checkout; filters: ReadonlySet<string>; limits?: WorkLimits },
): Promise<Uncommitted> {
  const { checkout, filters, limits = WORK_LIMITS } = options;
  await requireResolved(handle, checkout);
  return withIndex(handle, { places, checkout }, async (index, staged) => {
    const { git, dir } = handle;
    const staging = { git, dir, index, folder: checkout.folder, limits, filters };
    const { leftOut } = await stageFolder({ ...staging, staged }, []);
    const tree = readId(await git.run({ dir, index, tree: checkout.folder }, ['write-tree']));
    if (tree === (await handle.treeOf(checkout.head))) return { commit: checkout.head, changes: [], leftOut };
    const commit = await makeCommit(handle, {
      tree,
      parents: [checkout.head],
      message: 'Uncommitted changes',
      author: checkout.person ?? { name: 'Troupe', email: 'troupe@troupe.invalid' },
      at: Date.now(),
    });
    await handle.changeRefs([{ ref: `refs/checkout/changes/${commit}`, to: commit }]);
    const changes = (await compare(handle, [checkout.head, commit])).map(toChange);
    return { commit, changes, leftOut };
  });
}

/** Refuses while files have conflicts: each member would begin with the markers. */
async function requireResolved({ git, dir }: DepotHandle, { gitDir, folder }: Checkout): Promise<void> {
  const place = { dir, index: join(gitDir, 'index'), tree: folder };
  // A split index is not whole in one file.
  const { out } = await git.run(place, ['ls-files', '--unmerged', '-z'], { exits: [0, 128] });
  const paths = splitZero(out).map((entry) => toText(entry.subarray(entry.indexOf('\t') + 1)));
  if (paths.length === 0) return;
  const names = [...new Set(paths)].slice(0, 10).join(', ');
  throw new TeamError(
    'conflict',
    `Your checkout has conflicts that are not resolved, in ${names}: resolve them and run git add, or leave out --with-changes`,
  );
}

/**
 * Works with an index that has HEAD's files and the facts about them from the user's own index. So git need not read
 * every file, and a sparse checkout does not look as if most files were deleted.
 */
async function withIndex<R>(
  handle: DepotHandle,
  { places, checkout }: { places: Places; checkout: Checkout },
  work: (index: string, staged: readonly Buffer[]) => Promise<R>,
): Promise<R> {
  const { git, dir } = handle;
  return inNewFolder(places, async (folder) => {
    const index = join(folder, 'index');
    const place = { dir, index, tree: checkout.folder };
    await copyFile(join(checkout.gitDir, 'index'), index).catch(() => {});
    const staged = await listStaged(handle, place, checkout);
    try {
      await git.run(place, ['read-tree', '-m', checkout.head]);
    } catch (error) {
      // A split index is not whole in one file.
      if (!(error instanceof GitError)) throw error;
      await rm(index, { force: true });
      await git.run(place, ['read-tree', checkout.head]);
    }
    await markSubmodules({ git, dir, index, folder: checkout.folder });
    await git.run(place, ['update-index', '-q', '--ignore-submodules', '--refresh'], { exits: [0, 1] });
    return work(index, staged);
  });
}

/** New files that the user has staged: also ignored ones, which git lists nowhere else. */
async function listStaged({ git }: DepotHandle, place: GitPlace, { head, folder }: Checkout): Promise<Buffer[]> {
  const words = ['diff-index', '--cached', '-z', '--name-only', '--no-renames', '--diff-filter=A', head];
  // A split index is not whole in one file; then only ignored files are missed.
  const { out } = await git.run(place, words, { exits: [0, 128] });
  const found: Buffer[] = [];
  for (const path of splitZero(out)) {
    const facts = await lstat(inFolder(folder, path)).catch(() => undefined);
    if (facts && !facts.isDirectory()) found.push(path);
  }
  return found;
}
