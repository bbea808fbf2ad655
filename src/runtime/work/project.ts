import type { Checkout, NoCheckout } from '../../workspaces/checkout.ts';
import type { Depot } from '../../workspaces/depot.ts';
import type { DepotHandle } from '../../workspaces/depot/handle.ts';
import type { Places } from '../../workspaces/places.ts';
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
  | { readonly kind: 'shared'; readonly workspaces: Workspaces; readonly why: NoCheckout };

/** By what the repository of a team is recognised. */
export interface SoughtProject {
  /** The team, whose folders on this machine stay with the depot that they were made from. */
  readonly team: string;
  /** Where the machine that brought the team up had it. */
  readonly repository: string;
  readonly base: string;
  /** The first commits of the base, if several machines may have the repository. */
  readonly roots?: readonly string[] | undefined;
}

/** Opens projects. A root of the program makes it: it names the adapters. */
export interface Projects {
  readonly places: Places;
  /** Opens the project of a folder. All teams of one repository share its depot. */
  open(folder: string, options?: { limits?: WorkLimits }): Promise<Project>;
  /** Whether this machine has a checkout of a project. */
  has(sought: SoughtProject): Promise<boolean>;
  /**
   * Opens the project of a team. Its folders stay with the depot that they were made from, also if its checkout was moved
   * or is gone. What is missing in a depot without a checkout has to come from other machines.
   */
  find(sought: SoughtProject, options?: { limits?: WorkLimits }): Promise<Project>;
  /** The top folder around a folder, if the checkout of the team was moved there. Its depot goes on with it. */
  recognise(sought: SoughtProject, folder: string): Promise<string | undefined>;
  /** The teams that have folders on this machine. */
  teams(): Promise<string[]>;
  /** Puts away the folders of a team that is gone. Refs keep what they have. */
  putAway(team: string): Promise<void>;
  /** The depots on the disk, also of projects that no team works on any more. */
  depots(): Promise<readonly DepotHandle[]>;
  /** Takes in what the last checkout of a depot has now. False: it is not there any more. */
  takeIn(depot: DepotHandle): Promise<boolean>;
  /** Packs depots, and removes what no ref leads to and nobody wrote since a moment from those that no folder uses. */
  tidy(before: number): Promise<void>;
}
