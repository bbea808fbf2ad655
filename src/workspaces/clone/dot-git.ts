import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkout } from '../checkout.ts';
import type { DepotHandle } from '../depot/handle.ts';
import { splitLines } from '../git.ts';
import { freshName, inNewFolder, isFolder, putAway } from '../places.ts';
import type { Places } from '../places.ts';
import type { ObjectId } from '../workspace.ts';
import { requireInPlace } from './in-place.ts';

/** What the agent's own `.git` is made from. */
export interface DotGit {
  readonly handle: DepotHandle;
  readonly places: Places;
  readonly checkout: Pick<Checkout, 'format'>;
  /** Our index of the folder: the agent's begins as a copy. */
  readonly index: string;
  readonly base: ObjectId;
}

/**
 * Makes the `.git` of a folder: an ordinary repository that borrows the depot's objects. It has its own stash, hooks,
 * settings and branches, so what an agent does in it concerns no other member. HEAD is detached: then HEAD and the index
 * are all that has to be replaced when the base changes. The user's branches are there as `origin/...`.
 */
export async function makeDotGit(folder: string, { handle, places, checkout, index, base }: DotGit): Promise<void> {
  const draft = freshName(places.making);
  for (const part of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    await mkdir(join(draft, part), { recursive: true });
  }
  const isNew = checkout.format === 'sha256';
  const config = [
    '[core]',
    `\trepositoryformatversion = ${isNew ? 1 : 0}`,
    '\tbare = false',
    '\tlogallrefupdates = true',
  ];
  if (isNew) config.push('[extensions]', '\tobjectFormat = sha256');
  await writeFile(join(draft, 'config'), `${config.join('\n')}\n`);
  await writeFile(join(draft, 'HEAD'), `${base}\n`);
  await writeFile(join(draft, 'objects', 'info', 'alternates'), `${join(handle.dir, 'objects')}\n`);
  const ignored = await readFile(join(handle.dir, 'info', 'exclude')).catch(() => '');
  await writeFile(join(draft, 'info', 'exclude'), ignored);
  await writeFile(join(draft, 'packed-refs'), await listRefs(handle));
  const shallow = await readFile(join(handle.dir, 'shallow')).catch(() => undefined);
  if (shallow) await writeFile(join(draft, 'shallow'), shallow);
  await copyFile(index, join(draft, 'index'));
  await rename(draft, join(folder, '.git'));
}

/** What a merge, a rebase or a pick in progress leaves in `.git`. It belongs to the old base. */
const IN_PROGRESS = [
  'index.lock',
  'MERGE_HEAD',
  'MERGE_MSG',
  'MERGE_MODE',
  'AUTO_MERGE',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'SQUASH_MSG',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
];

/**
 * Replaces HEAD and the index of the agent's `.git` as files; no git command runs there. Renaming onto a link replaces
 * the link. A `.git` that is missing, or is no folder, is made again.
 */
export async function replaceHead(folder: string, dotGit: DotGit): Promise<void> {
  await requireInPlace(folder);
  const own = join(folder, '.git');
  if (!(await isFolder(own))) {
    await putAway(dotGit.places, own, 'git');
    await makeDotGit(folder, dotGit);
    return;
  }
  await inNewFolder(dotGit.places, async (draft) => {
    await writeFile(join(draft, 'HEAD'), `${dotGit.base}\n`);
    await copyFile(dotGit.index, join(draft, 'index'));
    for (const name of IN_PROGRESS) await rm(join(own, name), { recursive: true, force: true });
    for (const name of ['HEAD', 'index']) {
      await clear(join(own, name), dotGit.places);
      await rename(join(draft, name), join(own, name));
    }
  });
}

/** A file cannot replace a folder. */
async function clear(path: string, places: Places): Promise<void> {
  if (await isFolder(path)) await putAway(places, path, 'git');
}

/** The user's branches and tags, in the form of `packed-refs`. */
async function listRefs({ run }: DepotHandle): Promise<string> {
  const words = ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/checkout/heads', 'refs/checkout/tags'];
  const named = splitLines((await run(words)).out).map((line) =>
    line.replace(' refs/checkout/heads/', ' refs/remotes/origin/').replace(' refs/checkout/tags/', ' refs/tags/'),
  );
  return named.map((line) => `${line}\n`).join('');
}
