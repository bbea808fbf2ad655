import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { absentCheckout } from './workspaces/absent.ts';
import { findCheckout, hasCommits } from './workspaces/checkout.ts';
import type { Checkout, NoCheckout } from './workspaces/checkout.ts';
import { cloneWorkspaces, depotOfTeam, teamsWithFolders } from './workspaces/clone.ts';
import type { OpenWork } from './workspaces/clone/work.ts';
import { checkoutOf, depotId, knownCheckouts, openDepot } from './workspaces/depot.ts';
import type { Depot } from './workspaces/depot.ts';
import { openHandle } from './workspaces/depot/handle.ts';
import type { DepotHandle } from './workspaces/depot/handle.ts';
import { findCommits } from './workspaces/depot/packs.ts';
import { openGit } from './workspaces/git.ts';
import { openPlaces } from './workspaces/places.ts';
import type { Places } from './workspaces/places.ts';
import { openQueue } from './workspaces/queue.ts';
import { sharedWorkspaces } from './workspaces/shared.ts';
import type { WorkLimits, Workspaces } from './workspaces/workspace.ts';

/** The workspaces of a project whose members work apart. */
interface OwnProject {
  readonly kind: 'clone';
  readonly workspaces: Workspaces;
  readonly depot: Depot;
  readonly checkout: Checkout;
}

/** The workspaces of one project. */
export type Project =
  | OwnProject
  | { readonly kind: 'shared'; readonly workspaces: Workspaces; readonly why: NoCheckout | undefined };

/** All workspaces of a daemon. */
export interface Projects {
  readonly places: Places;
  /**
   * Opens the project of a folder. Own workspaces need git, a repository and a commit; otherwise they are shared, and
   * `why` says what is missing. All teams of one repository share its depot.
   */
  open(folder: string, options?: { kind?: 'own' | 'shared'; limits?: WorkLimits }): Promise<Project>;
  /** Whether this machine has a checkout of a project. */
  has(sought: Sought): Promise<boolean>;
  /**
   * Opens the project of a team of several machines: from a checkout of this machine that has the base, else from one of
   * the same repository, else without a checkout.
   */
  find(sought: Sought, options?: { limits?: WorkLimits }): Promise<Project>;
  /** The teams that have folders on this machine. */
  teams(): Promise<string[]>;
  /** Puts away the folders of a team that is gone. Refs keep what they have. */
  putAway(team: string): Promise<void>;
  /** The depots on the disk, also of projects that no team works on any more. */
  depots(): Promise<readonly DepotHandle[]>;
}

/** What a repository is recognised by. */
export interface Sought {
  readonly team: string;
  readonly repository: string;
  readonly base: string;
  readonly roots: readonly string[];
}

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
  const queues = new Map<string, DepotHandle['alone']>();

  return {
    places,
    async open(folder, { kind = 'own', limits } = {}) {
      const shared = (why: NoCheckout | undefined): Project => ({
        kind: 'shared',
        workspaces: sharedWorkspaces({ folder }),
        why,
      });
      if (kind === 'shared') return shared(undefined);
      const checkout = await findCheckout(git, folder, environment);
      if ('reason' in checkout) return shared(checkout);
      return openOwn(checkout, limits);
    },
    has: async (sought) => (await findAmong(sought)) !== undefined,
    async find(sought, { limits } = {}) {
      const { team, base } = sought;
      const checkout = (await findBound(team, base)) ?? (await findAmong(sought)) ?? absentCheckout(places, base);
      return openOwn(checkout, limits);
    },
    teams: () => teamsWithFolders(places),
    async putAway(team) {
      const id = await depotOfTeam(places, team);
      if (id === undefined) return;
      const { workspaces } = await openOwn(await checkoutFor(id, '0'.repeat(40)), undefined);
      for (const name of await workspaces.list()) {
        if (name.team !== team) continue;
        const workspace = await workspaces.open(name, { base: '' });
        // Nobody knows its branch any more: what the folder began from counts as landed.
        if (workspace.base !== undefined) await workspace.close({ tip: workspace.base });
      }
    },
    async depots() {
      const names = (await readdir(places.depots)).filter((name) => /^[0-9a-f]{16}\.git$/.test(name));
      return names.map((name) => openHandle(git, join(places.depots, name), queueOf(name.slice(0, -4))));
    },
  };

  async function openOwn(checkout: Checkout, limits: WorkLimits | undefined): Promise<OwnProject> {
    const depot = await useDepot(checkout);
    const workspaces = cloneWorkspaces({ places, depot, checkout, open, ...(limits && { limits }) });
    return { kind: 'clone', workspaces, depot, checkout };
  }

  /** Folders that were made stay with their depot, also if its checkout is gone or another one is named meanwhile. */
  async function findBound(team: string, base: string): Promise<Checkout | undefined> {
    const id = await depotOfTeam(places, team);
    if (id === undefined) return undefined;
    // An earlier team of this name may have been of another project.
    const handle = openHandle(git, join(places.depots, `${id}.git`), queueOf(id));
    if ((await findCommits(handle, [base])).length === 0) return undefined;
    return checkoutFor(id, base);
  }

  /** The checkout of a depot, or what stands for it if it is gone. */
  async function checkoutFor(id: string, base: string): Promise<Checkout> {
    const folder = await checkoutOf(places, `${id}.git`);
    const found = folder !== '' && existsSync(folder) ? await findCheckout(git, folder, environment) : undefined;
    return found && !('reason' in found) && depotId(found) === id ? found : absentCheckout(places, base, id);
  }

  async function findAmong({ repository, base, roots }: Sought): Promise<Checkout | undefined> {
    const named = [...new Set([...folders(), repository, ...(await knownCheckouts(places))])].filter((one) =>
      existsSync(one),
    );
    const found: Checkout[] = [];
    for (const folder of named) {
      const checkout = await findCheckout(git, folder, environment);
      if (!('reason' in checkout)) found.push(checkout);
    }
    for (const checkout of found) if (await hasCommits(git, checkout, [base])) return checkout;
    for (const checkout of found) if (await hasCommits(git, checkout, roots)) return checkout;
    return undefined;
  }

  /** Refs of a depot change one after the other, whoever changes them. */
  function queueOf(id: string): DepotHandle['alone'] {
    const queue = queues.get(id) ?? openQueue();
    queues.set(id, queue);
    return queue;
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
