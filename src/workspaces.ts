import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { OwnProject, Project, Projects, SoughtProject } from './runtime/work/project.ts';
import { absentCheckout } from './workspaces/absent.ts';
import { findCheckout, hasCommits } from './workspaces/checkout.ts';
import type { Checkout, NoCheckout } from './workspaces/checkout.ts';
import { borrowedDepots, cloneWorkspaces, depotOfTeam, teamsWithFolders } from './workspaces/clone.ts';
import type { OpenWork } from './workspaces/clone/work.ts';
import { openDepot } from './workspaces/depot.ts';
import type { Depot } from './workspaces/depot.ts';
import { openHandle } from './workspaces/depot/handle.ts';
import type { DepotHandle } from './workspaces/depot/handle.ts';
import { depotId, depotOfCheckout, findDepotId, knownCheckouts, readOrigin } from './workspaces/depot/origin.ts';
import { findCommits, findRoots } from './workspaces/depot/packs.ts';
import { isLoose, isPrunable, packDepot, pruneDepot } from './workspaces/depot/tidy.ts';
import { openGit } from './workspaces/git.ts';
import { openPlaces } from './workspaces/places.ts';
import { openQueues } from './workspaces/queue.ts';
import { sharedWorkspaces } from './workspaces/shared.ts';
import type { WorkLimits } from './workspaces/workspace.ts';

/** What all workspaces of a daemon need. */
export interface ProjectsOptions {
  /** The state directory. The caller holds it alone. */
  readonly root: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Variables that mark our git processes. */
  readonly marks: Readonly<Record<string, string>>;
  /** Ends the processes with these marks that a killed daemon left. */
  readonly endLeftovers: () => Promise<unknown>;
  /** Folders that may be checkouts of projects that other machines name. */
  readonly folders?: () => readonly string[];
}

/** Opens the workspaces of a daemon, and removes what a killed one left half done. */
export async function openProjects(options: ProjectsOptions): Promise<Projects> {
  const { root, environment, marks, endLeftovers, folders = () => [] } = options;
  const git = openGit({ environment, marks });
  const places = await openPlaces(root, { endLeftovers });
  const depots = new Map<string, Promise<Depot>>();
  const open = new Map<string, Promise<OpenWork>>();
  const queues = openQueues();

  return {
    places,
    open: openIn,
    has: async (sought) => (await findAmong(sought)) !== undefined,
    async find(sought, { limits } = {}) {
      const bound = await findBound(sought);
      if (bound) return openOwn(bound, limits);
      if (sought.roots) return openOwn((await findAmong(sought)) ?? absentCheckout(places, sought.base), limits);
      return openIn(sought.repository, { ...(limits && { limits }) });
    },
    async recognise(sought, folder) {
      const now = await locate(folder);
      if ('reason' in now || now.folder === sought.repository) return undefined;
      const roots = await rootsOf(sought);
      // Of two checkouts of one repository, the team stays with its own.
      if (await findFirst([sought.repository], roots)) return undefined;
      if (!(await hasCommits(git, now, roots))) return undefined;
      const bound = await boundDepot(sought);
      await useDepot({ ...now, depot: bound?.id ?? depotId(now) });
      return now.folder;
    },
    teams: () => teamsWithFolders(places),
    async putAway(team) {
      const id = await depotOfTeam(places, team);
      if (id === undefined) return;
      const last = (await lastCheckout(id)) ?? absentCheckout(places, '0'.repeat(40), id);
      const { workspaces } = await openOwn(last, undefined);
      for (const name of await workspaces.list()) {
        if (name.team !== team) continue;
        const workspace = await workspaces.open(name, { base: '' });
        // Nobody knows its branch any more: what the folder began from counts as landed.
        if (workspace.base !== undefined) await workspace.close({ tip: workspace.base });
      }
    },
    depots: listDepots,
    async takeIn({ dir }) {
      const last = await lastCheckout(basename(dir, '.git'));
      if (last) await useDepot(last);
      return last !== undefined;
    },
    async tidy(before) {
      const borrowed = await borrowedDepots(places);
      for (const handle of await listDepots()) {
        if (!borrowed.has(handle.dir)) {
          if (await isPrunable(handle)) await pruneDepot(handle, before);
        } else if (await isLoose(handle)) await packDepot(handle);
      }
    },
  };

  async function openIn(folder: string, { limits }: { limits?: WorkLimits } = {}): Promise<Project> {
    const checkout = await locate(folder);
    if (!('reason' in checkout)) return openOwn(checkout, limits);
    return { kind: 'shared', workspaces: sharedWorkspaces({ folder }), why: checkout };
  }

  async function listDepots(): Promise<DepotHandle[]> {
    const names = (await readdir(places.depots)).filter((name) => /^[0-9a-f]{16}\.git$/.test(name));
    return names.map((name) => openHandle(git, join(places.depots, name), queueOf(name.slice(0, -4))));
  }

  async function openOwn(checkout: Checkout, limits: WorkLimits | undefined): Promise<OwnProject> {
    const depot = await useDepot(checkout);
    const workspaces = cloneWorkspaces({ places, depot, checkout, open, ...(limits && { limits }) });
    return { kind: 'clone', workspaces, depot, checkout };
  }

  /** The repository of a folder, with the name of its depot. */
  async function locate(folder: string): Promise<Checkout | NoCheckout> {
    if (!existsSync(folder)) return { reason: 'no-repository', why: `${folder} does not exist` };
    const found = await findCheckout(git, folder, environment);
    return 'reason' in found ? found : { ...found, depot: await findDepotId(places, found) };
  }

  /** The checkout of a team whose folders have a depot, also if another one is named meanwhile. */
  async function findBound(sought: SoughtProject): Promise<Checkout | undefined> {
    const depot = await boundDepot(sought);
    return depot && checkoutFor(depot.id, sought);
  }

  async function boundDepot(sought: SoughtProject): Promise<{ id: string; handle: DepotHandle } | undefined> {
    const { team, repository, base } = sought;
    for (const id of [await depotOfTeam(places, team), await depotOfCheckout(places, repository)]) {
      if (id === undefined) continue;
      const handle = openHandle(git, join(places.depots, `${id}.git`), queueOf(id));
      // An earlier team of this name may have been of another project.
      if ((await findCommits(handle, [base])).length > 0) return { id, handle };
    }
    return undefined;
  }

  /** The first commits of a team's repository, as far as this machine knows them. */
  async function rootsOf(sought: SoughtProject): Promise<readonly string[]> {
    const { roots, base } = sought;
    const bound = roots ? undefined : await boundDepot(sought);
    return roots ?? (bound ? await findRoots(bound.handle, base) : [base]);
  }

  /** The checkout that a depot was last used from, or the main one if that was a linked worktree that is gone. */
  async function lastCheckout(id: string): Promise<Checkout | undefined> {
    const origin = await readOrigin(places, id);
    for (const named of origin ? [origin.folder, dirname(origin.commonDir)] : []) {
      const found = await locate(named);
      if (!('reason' in found) && found.depot === id) return found;
    }
    return undefined;
  }

  /** The checkout of a depot, wherever that is now, or what stands for it if it is gone. */
  async function checkoutFor(id: string, sought: SoughtProject): Promise<Checkout> {
    const { repository, base, roots } = sought;
    const last = (await readOrigin(places, id))?.folder ?? '';
    // Another machine may name a folder that is another checkout here.
    const named = roots ? [last, repository] : [repository, last];
    const found = await findFirst([...named, ...folders()], await rootsOf(sought));
    return found ? { ...found, depot: id } : absentCheckout(places, base, id);
  }

  /** The first of some folders that is a checkout with these commits. */
  async function findFirst(named: readonly string[], commits: readonly string[]): Promise<Checkout | undefined> {
    for (const folder of new Set(named)) {
      const found = await locate(folder);
      if (!('reason' in found) && (await hasCommits(git, found, commits))) return found;
    }
    return undefined;
  }

  async function findAmong({ repository, base, roots = [base] }: SoughtProject): Promise<Checkout | undefined> {
    const named = [...folders(), repository, ...(await knownCheckouts(places))];
    return (await findFirst(named, [base])) ?? (await findFirst(named, roots));
  }

  /** Refs of a depot change one after the other, whoever changes them. */
  function queueOf(id: string): DepotHandle['alone'] {
    return (work) => queues(id, work);
  }

  /** Forgets a depot that somebody removed, with the workspaces that know its saves. */
  async function forgetGone(id: string): Promise<void> {
    const known = depots.get(id);
    const depot = await known?.catch(() => undefined);
    if (!depot || (await depot.isThere()) || depots.get(id) !== known) return;
    depots.delete(id);
    for (const key of open.keys()) if (key.startsWith(`${id}/`)) open.delete(key);
  }

  /** One depot for all teams of a repository: its refs change one after the other. */
  async function useDepot(checkout: Checkout): Promise<Depot> {
    const id = depotId(checkout);
    await forgetGone(id);
    const known = depots.get(id);
    const found = known ?? openDepot({ git, places, checkout, path: environment['PATH'] ?? '', alone: queueOf(id) });
    depots.set(id, found);
    found.catch(() => depots.delete(id));
    const depot = await found;
    if (known) await depot.take(checkout);
    return depot;
  }
}
