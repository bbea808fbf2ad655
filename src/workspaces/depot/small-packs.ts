import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DepotHandle } from './handle.ts';
import { flushNames } from './loose.ts';

// Each quick save adds a pack, and every git process looks into all packs for an object that it does not find. So small
// packs are merged into one. The objects are the same, in other files: nobody loses one, also not a folder that borrows
// them. A process that knows the old packs looks for new ones when an object is not there.

/** So many packs are left alone. */
const MOST_PACKS = 24;

/** Larger packs are not written again, as those with the large files of a project. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The depots in which it is done now. */
const merging = new Set<string>();

/** Merges small packs if there are many. */
export async function mergeSmallPacks(handle: DepotHandle): Promise<void> {
  const { dir } = handle;
  if (merging.has(dir)) return;
  merging.add(dir);
  try {
    const packs = await listPacks(join(dir, 'objects', 'pack'));
    if (packs.length > MOST_PACKS) await mergePacks(handle, chooseSmall(packs));
  } finally {
    merging.delete(dir);
  }
}

interface Pack {
  readonly name: string;
  readonly size: number;
}

/** The packs that are this depot's alone, smallest first. A pack with several links is the checkout's, too. */
async function listPacks(folder: string): Promise<Pack[]> {
  const names = await readdir(folder);
  const all = new Set(names);
  const packs: Pack[] = [];
  for (const name of names.flatMap((one) => /^(pack-[0-9a-f]+)\.idx$/.exec(one)?.[1] ?? [])) {
    const facts = all.has(`${name}.pack`) ? await stat(join(folder, `${name}.pack`)) : undefined;
    if (facts?.nlink === 1 && facts.size < MOST_BYTES && !all.has(`${name}.promisor`)) {
      packs.push({ name, size: facts.size });
    }
  }
  return packs.sort((a, b) => a.size - b.size);
}

/**
 * The smallest ones, at least half of the limit. Each one that stays is larger than twice all smaller ones together. So
 * few stay, and each byte is written again only a few times.
 */
function chooseSmall(packs: readonly Pack[]): Pack[] {
  let [sum, count] = [0, 0];
  let together = 0;
  for (const { size } of packs) {
    count++;
    if (size <= 2 * sum || count <= MOST_PACKS / 2) together = count;
    sum += size;
  }
  return packs.slice(0, together);
}

async function mergePacks({ dir, run, alone }: DepotHandle, packs: readonly Pack[]): Promise<void> {
  const folder = join(dir, 'objects', 'pack');
  const input = packs.map(({ name }) => `${name}.pack\n`).join('');
  const words = ['pack-objects', '--quiet', '--stdin-packs', join(folder, 'pack')];
  const name = (await run(words, { input })).out.toString('latin1').trim();
  await alone(async () => {
    // What is here is flushed; that it has this name must be, too, before the others go.
    await flushNames(folder);
    for (const pack of packs) {
      if (pack.name === `pack-${name}`) continue;
      // Git finds packs by their index, so that goes first.
      for (const end of ['idx', 'rev', 'pack', 'keep']) await rm(join(folder, `${pack.name}.${end}`), { force: true });
    }
  });
}
