import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asStorageError } from '../core/file-errors.ts';
import type { Checkout } from './checkout.ts';
import { makeFolder } from './clone/folder.ts';
import { isInPlace } from './clone/in-place.ts';
import { replaceBase } from './clone/lost-base.ts';
import { filesIn, readState } from './clone/state.ts';
import { openWork } from './clone/work.ts';
import type { OpenWork } from './clone/work.ts';
import type { Depot } from './depot.ts';
import { listSaves, savesRef } from './depot/saves.ts';
import { isFolder, listTrash, placeOf } from './places.ts';
import type { Places } from './places.ts';
import { WORK_LIMITS } from './workspace.ts';
import type { ObjectId, Opened, OpenOptions, WorkLimits, WorkspaceName, Workspaces } from './workspace.ts';

/** What workspaces of one's own are opened with. */
export interface CloneSettings {
  readonly places: Places;
  readonly depot: Depot;
  readonly checkout: Checkout;
  readonly limits?: WorkLimits;
  /** The workspaces that are open already. All callers of one daemon share it: a folder has one queue of calls. */
  readonly open?: Map<string, Promise<OpenWork>>;
}

/** Workspaces that are clones: each has its own `.git` and borrows the objects of the depot. */
export function cloneWorkspaces(settings: CloneSettings): Workspaces {
  const { places, depot, checkout, limits = WORK_LIMITS, open = new Map<string, Promise<OpenWork>>() } = settings;

  return {
    kind: 'clone',
    async open(name, options) {
      const key = `${depot.id}/${name.team}/${name.member}`;
      const found = open.get(key) ?? openOne(name, options, () => open.delete(key));
      open.set(key, found);
      found.catch(() => open.delete(key));
      try {
        const workspace = await found;
        workspace.use({ checkout, limits });
        await workspace.ensure();
        return workspace;
      } catch (error) {
        throw asStorageError(error);
      }
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

  async function openOne(name: WorkspaceName, options: OpenOptions, forget: () => void): Promise<OpenWork> {
    const [folder, about] = [placeOf(places.workspaces, name), placeOf(places.indexes, name)];
    const shared = { places, depot, folder, about };
    const { copy = [], signal } = options;
    const label = `${name.team}.${name.member}`;
    const make = async (commit: ObjectId, base: ObjectId, from: From) => {
      const tree = await depot.handle.treeOf(commit);
      await depot.unknownFilters(base);
      return makeFolder({ ...shared, ...from, tree, base, copy, label });
    };
    // A folder that is gone comes back as it was last saved.
    const makeAgain = async (base: ObjectId, from: From): Promise<Opened> => {
      const [last] = await listSaves(depot.handle, savesRef(name), 1);
      return { how: 'again', ...(await make(last?.base === base ? last.commit : base, base, from)) };
    };
    const openFound = async (): Promise<Opened> => {
      let state = await readState(filesIn(folder, about).state);
      const from = { checkout, signal };
      if (state?.depot !== depot.id) return { how: 'new', ...(await make(options.base, options.base, from)) };
      const isLost = (await depot.has([state.base])).length === 0 && (await depot.has([options.base])).length > 0;
      if (isLost) state = await replaceBase(shared, state, options.base);
      if (!(await isInPlace(folder))) return makeAgain(state.base, from);
      return { how: 'found', copied: [], notCopied: [], submodules: [] };
    };
    return openWork({ ...shared, checkout, limits, name, opened: await openFound(), makeAgain, forget });
  }
}

/** What a folder is made from, besides the depot. */
interface From {
  readonly checkout: Checkout;
  readonly signal?: AbortSignal | undefined;
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

/** The depots that folders borrow from: open ones, and those in the trash, each with its own `.git`. */
export async function borrowedDepots(places: Places): Promise<Set<string>> {
  const teams = await listFolders(places.workspaces);
  const members = teams.map(async (team) => {
    const names = await listFolders(join(places.workspaces, team));
    return names.map((member) => join(places.workspaces, team, member));
  });
  const folders = [...(await Promise.all(members)).flat(), ...(await listTrash(places)).map(({ path }) => path)];
  const lists = folders.map((folder) =>
    readFile(join(folder, '.git', 'objects', 'info', 'alternates'), 'utf8').catch(() => ''),
  );
  // An agent may have removed its `.git`; then our own record tells.
  const known = (await listFolders(places.indexes)).map((team) => depotOfTeam(places, team));
  const named = (await Promise.all(known)).flatMap((id) => (id === undefined ? [] : join(places.depots, `${id}.git`)));
  const borrowed = (await Promise.all(lists)).flatMap((text) => text.split('\n')).map((path) => dirname(path));
  return new Set([...borrowed, ...named]);
}

async function listFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).sort();
}
