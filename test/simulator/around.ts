import type { Repository } from '../runtime/landing/repository.ts';
import type { Checks } from './checks.ts';
import type { Daemon } from './daemon.ts';
import type { Gates } from './gates.ts';
import type { Network } from './network.ts';
import type { OnStored, Store } from './store.ts';
import type { Folder } from './workspaces.ts';

/** The workspaces on one machine, by member. */
export type Folders = Map<string, Folder>;

/** What machines and members see of the world. */
export interface Around {
  /** Several machines share one store. */
  readonly isShared: boolean;
  /** The team is joined to one of Claude Code's. */
  readonly isNative: boolean;
  /** The journal is the real one, on SQLite. */
  readonly isInFile: boolean;
  /** The journal is the real one, on simulated NATS servers. */
  readonly isOnNats: boolean;
  /** The checks hear of a batch. */
  readonly onStored: OnStored;
  readonly network: Network;
  readonly repository: Repository;
  readonly saves: Map<string, string>;
  readonly checks: Checks;
  readonly gates: Gates;
  /** Agents fail and hang only while it is. */
  readonly isFaulty: boolean;
  /** Whether git fails on a machine now. */
  isGitAway(machine: string): boolean;
  /** A daemon that runs, if there is one. */
  anyDaemon(): Daemon | undefined;
  storeOf(machine: string): Store;
  accountOf(memberId: string): string;
  /** A turn of a member begins on a machine: no process of it goes on elsewhere, longer than a lease allows. */
  checkAlone(memberId: string, machine: string): void;
  /** Another member. */
  otherThan(memberId: string): string;
  /** What the provider of a member says to a turn that begins now. */
  refusalOf(memberId: string): { trouble: 'limited' | 'overloaded'; resetsAt?: number } | undefined;
  /** A member changes files for its task. */
  edit(folders: Folders, memberId: string, taskId: string): void;
  /** A claim of a member has reached its daemon. */
  claims(): Promise<void>;
  /** The machine of the native team loses power. */
  loseNatives(): void;
  /** Does something later that no machine does. */
  later(ms: number, work: () => void): void;
}
