import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DepotHandle } from './handle.ts';

/** Packs loose objects and refs. Nothing is lost by it, also while folders borrow objects. */
export async function packDepot(handle: DepotHandle): Promise<void> {
  await handle.alone(async () => {
    await handle.run(['repack', '--quiet', '-l']);
    // Only objects that are in a pack now.
    await handle.run(['prune-packed', '--quiet']);
    await handle.run(['pack-refs', '--all']);
  });
}

/**
 * Removes what no ref leads to and nobody wrote since a moment. Only for a depot that no folder borrows from: a folder's
 * own `.git` may name any object. Git refuses to remove precious objects, so for that time they are not; opening a depot
 * makes them precious again.
 */
export async function pruneDepot(handle: DepotHandle, before: number): Promise<void> {
  const { run, alone, dir } = handle;
  const since = `@${Math.floor(before / 1000)} +0000`;
  await alone(async () => {
    await keepLinked(dir);
    await run(['config', '--unset-all', 'extensions.preciousObjects'], { exits: [0, 5] });
    try {
      await run(['repack', '--quiet', '-l', '-A', '-d', `--unpack-unreachable=${since}`]);
      await run(['prune', `--expire=${since}`]);
      await run(['pack-refs', '--all']);
    } finally {
      await keepPrecious(handle);
    }
    await writeFile(join(dir, PRUNED_FILE), await signOf(handle));
  });
}

/** The file in a depot that says for which refs it was last pruned. */
const PRUNED_FILE = 'pruned';

/** Packs that the user's repository has, too, take no room here. Packed again they would. */
async function keepLinked(dir: string): Promise<void> {
  const packs = join(dir, 'objects', 'pack');
  for (const name of (await readdir(packs)).filter((one) => one.endsWith('.pack'))) {
    const { nlink } = await stat(join(packs, name));
    if (nlink > 1) await writeFile(join(packs, name.replace(/\.pack$/, '.keep')), '');
  }
}

/** Makes all objects precious: folders borrow them, so no command may ever remove one. */
export async function keepPrecious({ run }: DepotHandle): Promise<void> {
  await run(['config', 'extensions.preciousObjects', 'true']);
}

/** Whether packing is worth the time: there are many loose objects. */
export async function isLoose(handle: DepotHandle): Promise<boolean> {
  return (await countLoose(handle)) > MOST_LOOSE;
}

const MOST_LOOSE = 2_000;

/** Whether there may be something that no ref leads to: loose objects, or refs that changed since it was last pruned. */
export async function isPrunable(handle: DepotHandle): Promise<boolean> {
  if ((await countLoose(handle)) > 0) return true;
  const last = await readFile(join(handle.dir, PRUNED_FILE), 'utf8').catch(() => '');
  return last !== (await signOf(handle));
}

async function countLoose({ run }: DepotHandle): Promise<number> {
  return Number.parseInt((await run(['count-objects'])).out.toString(), 10);
}

async function signOf({ run }: DepotHandle): Promise<string> {
  const { out } = await run(['for-each-ref', '--format=%(objectname) %(refname)']);
  return createHash('sha256').update(out).digest('hex');
}
