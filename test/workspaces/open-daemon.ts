import { join } from 'node:path';
import { endMarked, MARKER } from '../../src/agents/process.ts';
import { findCheckout } from '../../src/workspaces/checkout.ts';
import type { Checkout } from '../../src/workspaces/checkout.ts';
import { cloneWorkspaces } from '../../src/workspaces/clone.ts';
import { openDepot } from '../../src/workspaces/depot.ts';
import type { Depot } from '../../src/workspaces/depot.ts';
import { openGit } from '../../src/workspaces/git.ts';
import type { Git } from '../../src/workspaces/git.ts';
import { openPlaces } from '../../src/workspaces/places.ts';
import type { Places } from '../../src/workspaces/places.ts';
import type { WorkLimits, Workspaces } from '../../src/workspaces/workspace.ts';

/** Everything that a test works with. */
export interface Stage {
  readonly root: string;
  readonly checkout: Checkout;
  readonly places: Places;
  readonly git: Git;
  readonly depot: Depot;
  readonly workspaces: Workspaces;
}

/** What differs from test to test. */
export interface StageOptions {
  readonly root: string;
  readonly limits?: WorkLimits;
  readonly program?: string;
  readonly path?: string;
  /** Further variables of the daemon. */
  readonly inherited?: Readonly<Record<string, string>>;
}

/** Opens the depot and the workspaces of `root/project`, as a daemon does. */
export async function openDaemon(options: StageOptions): Promise<Stage> {
  const { root, limits, program, path, inherited } = options;
  const environment = { ...inherited, PATH: path ?? process.env['PATH'], HOME: root };
  const marker = `workspaces:${root}`;
  const git = openGit({ environment, marks: { [MARKER]: marker }, ...(program !== undefined && { program }) });
  const places = await openPlaces(join(root, 'state'), { endLeftovers: () => endMarked(marker) });
  const checkout = await findCheckout(git, join(root, 'project'), environment);
  if ('reason' in checkout) throw new Error(checkout.why);
  const depot = await openDepot({ git, places, checkout, ...(path !== undefined && { path }) });
  const workspaces = cloneWorkspaces({ places, depot, checkout, ...(limits && { limits }) });
  return { root, checkout, places, git, depot, workspaces };
}
