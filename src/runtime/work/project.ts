import type { Checkout, NoCheckout } from '../../workspaces/checkout.ts';
import type { Depot } from '../../workspaces/depot.ts';
import type { WorkLimits, Workspaces } from '../../workspaces/workspace.ts';

/** A project whose members can work apart. */
export interface OwnProject {
  readonly kind: 'clone';
  readonly workspaces: Workspaces;
  readonly depot: Depot;
  readonly checkout: Checkout;
}

/** The workspaces of a folder. Without a repository, a commit or a new git, they are shared, and `why` says it. */
export type Project =
  | OwnProject
  | { readonly kind: 'shared'; readonly workspaces: Workspaces; readonly why: NoCheckout | undefined };

/** Opens projects. A root of the program makes it: it names the adapters. */
export interface Projects {
  readonly places: { readonly workspaces: string };
  open(folder: string, options?: { limits?: WorkLimits }): Promise<Project>;
}
