import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkout } from './checkout.ts';
import { makeFolder } from './clone/folder.ts';
import { filesIn, readState } from './clone/state.ts';
import { openWork } from './clone/work.ts';
import type { Depot } from './depot.ts';
import { listSaves, savesRef } from './depot/saves.ts';
import { isFolder, placeOf } from './places.ts';
import type { Places } from './places.ts';
import { WORK_LIMITS } from './workspace.ts';
import type { OpenOptions, WorkLimits, Workspace, WorkspaceName, Workspaces } from './workspace.ts';

/** What workspaces of one's own are opened with. */
export interface CloneSettings {
  readonly places: Places;
  readonly depot: Depot;
  readonly checkout: Checkout;
  readonly limits?: WorkLimits;
  /** The workspaces that are open already. All callers of one daemon share it: a folder has one queue of calls. */
  readonly open?: Map<string, Promise<Workspace>>;
}

/** Workspaces that are clones: each has its own `.git` and borrows the objects of the depot. */
export function cloneWorkspaces(settings: CloneSettings): Workspaces {
  const { places, depot, checkout, limits = WORK_LIMITS, open = new Map<string, Promise<Workspace>>() } = settings;

  return {
    kind: 'clone',
    open(name, options) {
      const key = `${depot.id}/${name.team}/${name.member}`;
      const found = open.get(key) ?? openOne(name, options, () => open.delete(key));
      open.set(key, found);
      found.catch(() => open.delete(key));
      return found;
    },
    async list() {
      const names: WorkspaceName[] = [];
      for (const team of await listFolders(places.indexes)) {
        for (const member of await listFolders(join(places.indexes, team))) {
          const state = await readState(filesIn('', join(places.indexes, team, member)).state);
          if (state?.depot === depot.id) names.push({ team, member });
        }
      }
      return names;
    },
  };

  async function openOne(name: WorkspaceName, options: OpenOptions, forget: () => void): Promise<Workspace> {
    const [folder, about] = [placeOf(places.workspaces, name), placeOf(places.indexes, name)];
    const shared = { places, depot, checkout, folder, about };
    const state = await readState(filesIn(folder, about).state);
    const isKnown = state?.depot === depot.id;
    if (isKnown && (await isFolder(folder))) {
      const opened = { how: 'found', copied: [], notCopied: [], submodules: [] } as const;
      return openWork({ ...shared, limits, name, opened, forget });
    }
    const last = isKnown ? (await listSaves(depot.handle, savesRef(name), 1))[0] : undefined;
    const base = isKnown ? state.base : options.base;
    // A folder that is gone comes back as it was last saved.
    const commit = last?.base === base ? last.commit : base;
    const tree = await depot.handle.treeOf(commit);
    const { copy = [], signal } = options;
    await depot.unknownFilters(base);
    const made = await makeFolder({ ...shared, tree, base, copy, signal, label: `${name.team}.${name.member}` });
    const opened = { how: isKnown ? 'again' : 'new', ...made } as const;
    return openWork({ ...shared, limits, name, opened, forget });
  }
}

/** The teams that have folders. */
export function teamsWithFolders(places: Places): Promise<string[]> {
  return listFolders(places.indexes);
}

/** The depot that the folders of a team borrow from; undefined if it has no folder here. */
export async function depotOfTeam(places: Places, team: string): Promise<string | undefined> {
  for (const member of await listFolders(join(places.indexes, team))) {
    const state = await readState(filesIn('', join(places.indexes, team, member)).state);
    if (state && (await isFolder(join(places.depots, `${state.depot}.git`)))) return state.depot;
  }
  return undefined;
}

async function listFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).sort();
}
