import { rm } from 'node:fs/promises';
import type { Depot } from '../depot.ts';
import { markSubmodules } from '../submodules.ts';
import type { ObjectId } from '../workspace.ts';
import { filesIn, writeState } from './state.ts';
import type { State } from './state.ts';

/**
 * Lets a folder go on from another commit, because the depot lost the one that it began from. Its files stay as they
 * are: what differs from the other commit counts as changed.
 */
export async function replaceBase(
  { depot, folder, about }: { readonly depot: Depot; readonly folder: string; readonly about: string },
  { depot: id, prepared }: State,
  base: ObjectId,
): Promise<State> {
  const { git, dir } = depot.handle;
  const files = filesIn(folder, about);
  await rm(files.index, { force: true });
  await git.run({ dir, index: files.index, tree: folder }, ['read-tree', base]);
  await markSubmodules({ git, dir, index: files.index, folder });
  const state = { depot: id, base, prepared };
  await writeState(files.state, state);
  return state;
}
